"""Bugs of one line in attnlib/course/book.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/book.py", "repository/test_notebooks.py::test_roles_become_colours_that_every_renderer_knows",
    ("colour of a dark page", "ROLES[match[1]].light", "ROLES[match[1]].dark"),
) + of(
    "course/book.py", "repository/test_colab.py::test_a_release_installs_its_tag_and_what_is_no_release_the_branch",
    ("a release installs the branch", 'if ".dev" in version', "if version"),
)
