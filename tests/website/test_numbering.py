"""website/numbering.py: figures and exercises count within their page."""

from types import SimpleNamespace

from website.numbering import renumber


def test_chapters_count_within_themselves_and_other_pages_from_one():
    counted = {
        "book/02_x": {"figure": {"b": (8,), "a": (7,)}, "exercise": {"e": (4,)}},
        "book/03_y": {"figure": {"c": (9,), "d": (10,)}},
        "book/data": {"figure": {"f": (11,)}},
    }
    assert renumber(None, SimpleNamespace(toc_fignumbers=counted)) == []
    assert counted == {
        "book/02_x": {"figure": {"a": (2, 1), "b": (2, 2)}, "exercise": {"e": (2, 1)}},
        "book/03_y": {"figure": {"c": (3, 1), "d": (3, 2)}},
        "book/data": {"figure": {"f": (1,)}},
    }
