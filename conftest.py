"""Chapters under nbval run with the settings they were executed with, and a test that is skipped is no test."""

import itertools
import json
import os
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from scripts.kernel import KERNEL_ENVIRONMENT

os.environ.update(KERNEL_ENVIRONMENT)
SECONDS: Counter[str] = Counter()  # of each file of tests, over all workers
TIMES = os.environ.pop("TEST_TIMES", None)  # where they go; a run of pytest inside of a test does not inherit it


def pytest_configure(config):
    """Let the kernels of nbval listen on files of their own.

    A port is found free by one process and taken by another a moment later: where two start kernels at once, one of a
    few hundred found its port taken, and died.
    """
    if not config.getoption("nbval", False) or os.name == "nt":
        return
    import nbval.kernel
    from jupyter_client.manager import KernelManager

    folder, numbers = tempfile.TemporaryDirectory(prefix="kernels-"), itertools.count()
    config.add_cleanup(folder.cleanup)

    def manager(**options) -> KernelManager:
        return KernelManager(transport="ipc", ip=f"{folder.name}/{next(numbers)}", **options)

    nbval.kernel.KernelManager = manager


def pytest_runtest_logreport(report):
    SECONDS[report.nodeid.split("::")[0]] += report.duration


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Turn a run red in which something was skipped: what is not run proves nothing. Leave the times of its files.

    scripts/times.py reads them.
    """
    if TIMES and not hasattr(session.config, "workerinput"):
        Path(TIMES).write_text(json.dumps(SECONDS), "utf8")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    stats = reporter.stats if reporter is not None else {}
    if (stats.get("skipped") or stats.get("xfailed")) and session.exitstatus == 0:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
