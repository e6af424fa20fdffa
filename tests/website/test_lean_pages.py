"""website/lean_pages.py: what goes is what is not needed."""

import shutil

import matplotlib
import pytest
from fontTools.ttLib import TTFont

from website.lean_pages import ICONS, keep_icons, plain_kinds, without_plain_tags, without_unused_rules


@pytest.mark.parametrize(
    ("style", "kept"),
    [
        (".yes{top:0}.no{top:0}", ".yes{top:0}"),
        (".no,p.yes > .yes,.yes.no{top:0}", "p.yes > .yes{top:0}"),
        ("p:not(.no):is(.no,.yes){top:0}#no[class~=no]::before{top:0}", None),  # all of it
        ('.yes:before{content:"\\f03a} .no{"}.no:before{content:"}"}', '.yes:before{content:"\uf03a} .no{"}'),
        (
            "@media (min-width:1px){.no{top:0}.yes{top:0}}@media print{.no{top:0}}",
            "@media (min-width:1px){.yes{top:0}}",
        ),
        ("@font-face{font-family:no;src:url(no.woff)}@keyframes no{0%{top:0}}", None),
        (".yes-no{top:0}/* no */.yes{top:0}", ".yes{top:0}"),
        (".w-1\\.5{top:0}.yes{top:0}", ".yes{top:0}"),
    ],
)
def test_rules_that_apply_to_nothing_go_and_the_others_stay(style, kept):
    assert without_unused_rules(style, {"yes"}) == (style if kept is None else kept)


LIGHT = 'html[theme="light"] .highlight'
DARK = 'html[theme="dark"] .highlight'


def test_a_kind_of_token_is_plain_where_no_theme_shows_it_in_its_own_way():
    style = (
        f"pre{{ line-height: 1 }}{LIGHT} pre{{ color: #111 }}{LIGHT}{{ background: #eee; color: #111 }}"
        f"{LIGHT} .n{{ color: #111 }}{LIGHT} .k{{ color: #222 }}{LIGHT} .w{{ color: #111 }}"
        f"{LIGHT} .gs{{ font-weight: bold }} /* {{ }} */ {LIGHT} .p{{ color: #111 }}"
        f"{LIGHT} .hll{{ background-color: #111 }}"
        f"{DARK}{{ background: #111; color: #eee }}{DARK} .n{{ color: #eee }}{DARK} .k{{ color: #eee }}"
        f"{DARK} .w{{ color: #111 }}{DARK} .gs{{ color: #eee }}{DARK} .p{{ color: #eee; font-style: italic }}"
    )
    assert plain_kinds(style) == {"n"}


def test_code_without_plain_tags_reads_the_same_and_keeps_its_colours():
    code = (
        '<span></span><a href="#f"><span class="n">f</span></a><span class="p">(</span>'
        '<span class="s2">"a &lt; b"</span>'
        '<span class="line" style="--in:4">    <span class="nb">min</span><span class="p">)</span>\n</span>'
    )
    made = without_plain_tags(code, {"n", "p"})
    assert made == (
        '<span></span><a href="#f">f</a>(<span class="s2">"a &lt; b"</span>'
        '<span class="line" style="--in:4">    <span class="nb">min</span>)\n</span>'
    )
    assert without_plain_tags(code, set()) == code


def test_the_script_with_the_icons_goes_and_other_scripts_stay():
    other = '<script src="../_static/scripts/bootstrap.js"></script></head>'
    icons = '<!-- So that users can add custom icons -->\n  <script src="../_static/scripts/fontawesome.js"></script>'
    assert ICONS.sub("", f"<head>\n  {icons}\n  {other}") == f"<head>\n  {other}"


def test_a_font_keeps_the_characters_that_are_asked_for(tmp_path):
    whole = matplotlib.get_data_path() + "/fonts/ttf/DejaVuSans.ttf"
    font = tmp_path / "font.ttf"
    shutil.copy(whole, font)
    keep_icons(font, {ord("a"), ord("é")})
    before, after = TTFont(whole), TTFont(font)
    assert set(after.getBestCmap()) == {ord("a"), ord("é")}
    name = after.getBestCmap()[ord("é")]
    assert after["hmtx"][name] == before["hmtx"][before.getBestCmap()[ord("é")]]
    assert font.stat().st_size < 20_000
