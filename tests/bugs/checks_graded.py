"""Bugs of one line in attnlib/checks/graded.py."""

from tests.bugs import of

# fmt: off
BUGS = of(
    "checks/graded.py", "test_checks.py",
    ("a loop goes on", "outer, _ = signal.setitimer(timer, seconds)", "outer, _ = signal.setitimer(timer, 0)"),
    ("an import is cut off", "if is_import(frame):", "if False:"),
    ("after a slow import a loop goes on", "            signal.setitimer(timer, seconds)", "            pass"),
    ("a slow import takes the time of what follows",
     "            signal.setitimer(timer, seconds)", "            signal.setitimer(timer, 1e-3)"),
    ("the alarm rings later", "signal.setitimer(timer, outer)", "outer"),
    ("an inner limit ends the outer one", "timer, outer)", "timer, 0)"),
    ("the handler stays", "signal.signal(alarm, before)", "before"),
    ("the processor's clock is the wall's", "    if processor:", "    if False:"),
    ("no limit in a second thread", " or threading.current_thread() is not threading.main_thread()", ""),
    ("what claims to be a tensor is one", "if type(given) is not Tensor:", "if given is None:"),
    ("graded by broadcasting", "if given.shape != wanted.shape:", "if given.numel() != wanted.numel():"),
    ("graded with any tolerance", "same(given.detach(), wanted, tolerance)", "same(given.detach(), wanted, 0.1)"),
)
