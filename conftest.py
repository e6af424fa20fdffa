"""Chapters under nbval run with the settings they were executed with, and a test that is skipped is no test."""

import contextlib
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from scripts.kernel import KERNEL_ENVIRONMENT, no_ports

os.environ.update(KERNEL_ENVIRONMENT)
SECONDS: Counter[str] = Counter()  # of each file of tests, over all workers
TIMES = os.environ.pop("TEST_TIMES", None)  # where they go; a run of pytest inside of a test does not inherit it


def pytest_configure(config):
    """Let the kernels of nbval listen on files of their own."""
    if not config.getoption("nbval", False):
        return
    import nbval.kernel
    from jupyter_client.manager import KernelManager

    contexts = contextlib.ExitStack()
    config.add_cleanup(contexts.close)

    def manager(**options) -> KernelManager:
        return KernelManager(config=contexts.enter_context(no_ports()), **options)

    nbval.kernel.KernelManager = manager


def pytest_collectstart(collector):
    """Leave vector pictures, as nbval leaves others, to what is asserted of their numbers."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare += ("image/svg+xml",)


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
