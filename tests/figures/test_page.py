"""A saved figure is one file, and no text in it becomes a tag."""

import json

from lxml import html

from attnlib.figures import AlignmentView
from attnlib.figures.page import HOST, STATE, VIEW, in_script, page

HOSTILE = "<!--<script></script><img src=x onerror='alert(1)'>"


def test_a_saved_figure_is_one_file_with_its_state_and_a_picture(tmp_path):
    figure = AlignmentView({"one": [[0.2, 0.8]], '"><b>': [[1, 0]]}, ["a", HOSTILE], ["x"])
    path = figure.save(str(tmp_path / "look.HTML"), title=HOSTILE)
    found = html.document_fromstring(path.read_bytes())
    scripts = {script.get("type", "javascript"): script.text for script in found.iter("script")}
    assert json.loads(scripts[VIEW]) == {"model_id": figure.model_id}
    stored = json.loads(scripts[STATE])["state"][figure.model_id]
    assert stored == json.loads(json.dumps({"model_module": "anywidget", "state": figure.get_state()}))
    assert HOST.read_text("utf8") in "".join(found.xpath("//script/text()"))
    (image,) = found.xpath("//*[@src or @href]")
    assert image.tag == "img" and image.get("src").startswith("data:image/png;base64,")
    assert "<b>" in image.get("alt") and image.get("alt") == repr(figure)


def test_json_in_a_script_has_no_tag_and_stays_what_it_is():
    data = {HOSTILE: [1.5, None, "</script>", "ä"]}
    assert "<" not in in_script(data)
    assert json.loads(in_script(data)) == data


def test_a_page_has_the_theme_that_is_asked_for_or_follows_its_reader():
    follows = "prefers-color-scheme"
    assert 'data-theme="dark"' in page({}, "", theme="dark") and follows not in page({}, "", theme="dark")
    assert follows in page({}, "")
