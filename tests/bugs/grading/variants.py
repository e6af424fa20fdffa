"""Bugs of one line in attnlib/grading/variants.py, and in how a variant is drawn."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/variants.py", "grading/test_variants.py",
    ("the variant is the same for all assignments and classes", 'join([name, secret, student])', 'join([student])',
     "test_a_class_gets_its_hand_outs_and_a_manifest"),
    ("the secret does not matter", 'join([name, secret, student])', 'join([name, student])',
     "test_a_class_gets_its_hand_outs_and_a_manifest"),
    ("somebody may get the published one", "return 1 + int.from_bytes", "return 0 * int.from_bytes",
     "test_a_class_gets_its_hand_outs_and_a_manifest"),
    ("folders differ by case alone", "folder = tidy(student).lower()", "folder = tidy(student)",
     "test_a_roster_that_is_none_is_refused"),
    ("a name is a path", "folder / tidy(student)))", "folder / student))",
     "test_a_class_gets_its_hand_outs_and_a_manifest"),
    ("an empty secret will do", "if not secret:", "if secret is None:", "test_the_command_refuses_what_it_cannot_do"),
    ("the manifest of another assignment will do",
     'if row["assignment"] == choose(which):', "if choose(which):", "test_a_manifest_that_is_none_is_refused"),
    ("the published one stands in a manifest", 'isdecimal() or not int(row["seed"])', "isdecimal()",
     "test_a_manifest_that_is_none_is_refused"),
) + of(
    "grading/assignment.py", "grading/test_variants.py",
    ("a variant may differ in one option", "min(2, len(chosen)) > 0", "min(1, len(chosen)) > 0"),
) + of(
    "grading/grade.py", "grading/test_variants.py::test_a_class_of_variants_is_graded_each_by_its_own",
    ("all are asked by the published variant", "boxed, seed, inputs,", "boxed, 0, inputs,"),
    ("who is not in the manifest is asked all the same", "if seed is not None}", "}"),
) + of(
    "grading/explain.py", "grading/test_variants.py::test_a_class_of_variants_is_graded_each_by_its_own",
    ("nobody's variant is named", "if _fits(theirs_, of_question, right):", "if not right:"),
)
