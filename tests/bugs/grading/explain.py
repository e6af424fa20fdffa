"""Bugs of one line in attnlib/grading/explain.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "grading/explain.py", "grading/test_examiner.py",
    ("a mistake is named that differs", "if given is None or not alike(given, theirs(call)):", "if given is None:",
     "test_the_mistake_is_named_only_where_it_is_the_one"),
    ("hidden expectations are shown", '== "gave" and not call.hidden else', '== "gave" else',
     "test_what_was_expected_is_shown_where_everybody_sees_the_test"),
    ("random numbers of every device are kept", "torch.random.fork_rng(devices=[])", "torch.random.fork_rng()",
     "test_what_was_expected_is_shown_where_everybody_sees_the_test"),
    ("the largest call is shown", "call = min(wrong,", "call = max(wrong,",
     "test_the_smallest_call_is_shown_and_a_stream_is_not_read_again"),
)
