"""Sphinx extension: the figures and exercises of chapter 3 are 3.1, 3.2 and so on; those of other pages are 1, 2.

Sphinx would do so if it numbered the chapters; but their titles have numbers already, so it counts through the book.
"""

import re
from itertools import count

CHAPTER = re.compile(r"book/(\d\d)_")


def renumber(app, env) -> list[str]:
    """Count anew on each page, in the order in which Sphinx has counted; no page need be read again."""
    for page, kinds in env.toc_fignumbers.items():
        chapter = CHAPTER.match(page)
        for numbers in kinds.values():
            places = count(1)
            for name in sorted(numbers, key=numbers.get):
                numbers[name] = (*([int(chapter[1])] if chapter else []), next(places))
    return []


def setup(app) -> dict[str, bool]:
    app.connect("env-get-updated", renumber, priority=900)  # after Sphinx has counted
    return {"parallel_read_safe": True, "parallel_write_safe": True}
