"""Sphinx extension: the arrows that unfold the table of contents get a name, for those who hear the page."""

BARE, NAMED = '<summary><span class="toctree-toggle"', '<summary aria-label="pages below"><span class="toctree-toggle"'


def name_the_arrows(app, pagename, templatename, context, doctree) -> None:
    """Wrap the theme's function that writes the table of contents."""
    write = context.get("generate_toctree_html")
    if write is not None:
        context["generate_toctree_html"] = lambda *args, **options: str(write(*args, **options)).replace(BARE, NAMED)


def setup(app) -> dict[str, bool]:
    app.connect("html-page-context", name_the_arrows, priority=900)  # after the theme has put its function there
    return {"parallel_read_safe": True, "parallel_write_safe": True}
