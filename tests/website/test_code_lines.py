"""website/code_lines.py: long lines of code get boxes, and nothing is lost."""

import re

from website.code_lines import SHORT, in_boxes


def test_a_long_line_knows_how_far_in_it_begins_and_a_short_one_stays():
    short, long = '<span class="k">if</span> a &lt; b:', f"        <b>y</b> = {'1' * SHORT}"
    made = in_boxes(f"<span></span>{short}\n\n{long}\n{short}\n")
    assert made == f'<span></span>{short}\n\n<span class="line" style="--in:8">{long}\n</span>{short}\n'
    full = "&lt;" * SHORT
    assert in_boxes(full) == full
    assert in_boxes(f"{full}x").startswith('<span class="line" style="--in:0">')


def test_what_is_copied_is_what_was_written():
    code = "def f(x):\n" + "\n".join(f"{' ' * n}{'word ' * n}" for n in range(20))
    assert re.sub(r"<[^>]*>", "", in_boxes(code)) == code
