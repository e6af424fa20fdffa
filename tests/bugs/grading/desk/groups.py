"""Bugs of one line in attnlib/grading/desk/groups.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/desk/groups.py",
    "grading/test_desk.py::test_equal_texts_are_one_group_and_similar_ones_are_neighbours",
    ("case tells texts apart", ".casefold()", ""),
    ("what was handed out is an answer", '"" if key == untouched else key', "key"),
    ("order of the alphabet",
     'order = leaves_list(linkage(1 - alike[upper], "average", optimal_ordering=optimal)).tolist()',
     "order = list(range(len(texts)))"),
    ("near ones are far", "linkage(1 - alike[upper]", "linkage(alike[upper]"),
    ("groups are called after their place", "Group(digest(listed[n][0])", "Group(str(n)"),
    ("empty ones are no group of their own", "empty, empty=True)", "empty)"),
) + of(
    "grading/desk/groups.py", "grading/test_desk.py::test_code_is_compared_without_comments_and_layout",
    ("comments tell code apart", "return ast.dump(ast.parse(code))", "return code"),
    ("deep code is a crash", "except (SyntaxError, ValueError, RecursionError, MemoryError):", "except SyntaxError:"),
    ("indentation means nothing", r're.sub(r"(?<=\S)[ \t]+", " ", line)', r're.sub(r"[ \t]+", " ", line)'),
) + of(
    "grading/desk/groups.py", "grading/test_desk.py::test_texts_that_have_no_words_have_an_order_too",
    ("texts without words", "except ValueError:  # not one", "except KeyError:  # not one"),
    ("one text has no neighbours", "if len(texts) < 2:", "if not texts:"),
)
