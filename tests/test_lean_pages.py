"""scripts/lean_pages.py: what goes is what is not needed."""

from scripts.lean_pages import ICONS, without_unused_icons


def test_rules_of_unused_icons_go_and_nothing_else():
    style = (
        '.fa{font-weight:900}.fa-spin{animation:none}.fa-bell:before{content:"\\f0f3"}'
        '.fa-list-squares:before,.fa-list:before{content:"\\f03a"}.fa-list-ol:before{content:"\\f0cb"}p:before{content:"x"}'
    )
    assert without_unused_icons(style, {"fa-list", "fa-spin"}) == (
        ".fa{font-weight:900}.fa-spin{animation:none}"
        '.fa-list-squares:before,.fa-list:before{content:"\\f03a"}p:before{content:"x"}'
    )
    assert ".fa-bell" in without_unused_icons(style, {"fa-bell"})


def test_the_script_with_the_icons_goes_and_other_scripts_stay():
    other = '<script src="../_static/scripts/bootstrap.js"></script></head>'
    icons = '<!-- So that users can add custom icons -->\n  <script src="../_static/scripts/fontawesome.js"></script>'
    assert ICONS.sub("", f"<head>\n  {icons}\n  {other}") == f"<head>\n  {other}"
