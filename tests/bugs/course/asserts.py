"""Bugs of one line in attnlib/course/asserts.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "course/asserts.py", "course/test_asserts.py",
    ("a loop goes on", "    signal.setitimer(timer, seconds, AGAIN)\n    try:", "    try:",
     "test_an_endless_loop_ends"),
    ("it rings once", "setitimer(timer, seconds, AGAIN)\n    try:", "setitimer(timer, seconds)\n    try:",
     "test_an_alarm_whose_error_is_dropped_rings_again"),
    ("the one around it rings once", "1e-6), again)", "1e-6))", "test_an_alarm_whose_error_is_dropped_rings_again"),
    ("the shorter one around it rings once", "signal.setitimer(timer, left, again)", "signal.setitimer(timer, left)",
     "test_an_alarm_whose_error_is_dropped_rings_again"),
    ("the limit around it is forgotten", "        if left:\n", "        if left < 0:\n"),
    ("a longer limit outlasts the one around it", "if 0 < left <= seconds", "if left < 0",
     "test_a_longer_limit_never_outlasts_the_one_around_it"),
    ("the one around it begins anew", "left - (clock() - began)", "left"),
    ("a limit that is over never rings", "max(left - (clock() - began), 1e-6)", "max(left - (clock() - began), 0)",
     "test_a_limit_that_was_over_within_another_rings_when_that_has_ended"),
    ("the processor's time is the clock's", "lambda: os.times().user", "lambda: 0.0"),
    ("the handler stays", "signal.signal(alarm, before)", "before"),
    ("an import is cut off", "is_import(frame) or len", "len", "test_an_import_is_never_cut_off"),
    ("an import costs the rest its time", "is_import(frame) or len(sys.modules) > loaded", "is_import(frame)",
     "test_what_has_loaded_a_module_has_all_the_time_again"),
    ("a loop that has loaded a module never ends", "            loaded = len(sys.modules)\n            signal",
     "            signal", "test_an_import_is_never_cut_off"),
    ("graded by broadcasting",
     "    if given.shape != wanted.shape:\n        raise",
     "    if given.numel() != wanted.numel():\n        raise"),
    ("a parameter is no tensor", "not in (Tensor, nn.Parameter):", "is not Tensor:"),
    ("a vector of one number is a number", "given.ndim == 0", "given.numel() == 1"),
    ("numbers in lists stay as they are", "type(given) in (list, tuple)", "type(given) is tuple"),
    ("NaN equals nothing", "equal_nan=True", "equal_nan=False"),
    ("shapes are broadcast", "    if given.shape != wanted.shape:\n        return False\n", ""),
    ("numbers are the same in all gradings", 'random.Random(f"{word}/{number}")', 'random.Random(f"{number}")'),
)
