"""A saved figure is one file, and no text in it becomes a tag."""

import json
from html.parser import HTMLParser

from attnlib.figures import AlignmentView
from attnlib.figures.page import HOST, STATE, VIEW, in_script, page

HOSTILE = "<!--<script></script><img src=x onerror='alert(1)'>"


class Tags(HTMLParser):
    """The tags of a page, and the text inside of each kind of script."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.scripts, self.inside = [], {}, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.inside = dict(attributes).get("type", "javascript") if tag == "script" else None

    def handle_data(self, data):
        if self.inside:
            self.scripts[self.inside] = self.scripts.get(self.inside, "") + data

    def handle_endtag(self, tag):
        self.inside = None


def test_a_saved_figure_is_one_file_with_its_state_and_a_picture(tmp_path):
    figure = AlignmentView({"one": [[0.2, 0.8]], '"><b>': [[1, 0]]}, ["a", HOSTILE], ["x"])
    path = figure.save(str(tmp_path / "look.HTML"), title=HOSTILE)
    found = Tags(path.read_text("utf8"))
    assert json.loads(found.scripts[VIEW]) == {"model_id": figure.model_id}
    stored = json.loads(found.scripts[STATE])["state"][figure.model_id]
    assert stored == json.loads(json.dumps({"model_module": "anywidget", "state": figure.get_state()}))
    assert HOST.read_text("utf8") in found.scripts["javascript"]
    (image,) = [attributes for tag, attributes in found.tags if tag == "img"]
    assert "<b>" in image["alt"]
    assert image["alt"] == repr(figure) and image["src"].startswith("data:image/png;base64,")
    assert [tag for tag, attributes in found.tags if tag != "img" and {"src", "href"} & set(attributes)] == []


def test_json_in_a_script_has_no_tag_and_stays_what_it_is():
    data = {HOSTILE: [1.5, None, "</script>", "ä"]}
    assert "<" not in in_script(data)
    assert json.loads(in_script(data)) == data


def test_a_page_has_the_theme_that_is_asked_for_or_follows_its_reader():
    follows = "prefers-color-scheme"
    assert 'data-theme="dark"' in page({}, "", theme="dark") and follows not in page({}, "", theme="dark")
    assert follows in page({}, "")
