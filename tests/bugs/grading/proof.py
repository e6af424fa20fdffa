"""Bugs of one line in attnlib/grading/proof.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/proof.py", "grading/test_assignments.py::test_a_proof_leaves_the_style_of_other_figures_alone",
    ("style of an assignment stays", "@plt.rc_context()  #", "#"),
)
