"""What test cells of assignments use: a comparison that nothing talks its way through, a limit, fresh numbers."""

import signal
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from attnlib.course import asserts
from attnlib.course.asserts import close, drawn, drawn_random, limit
from attnlib.grading.answers import Agreeable


def test_inputs_are_new_in_each_grading_and_come_back_with_its_word(monkeypatch):
    def numbers() -> list:
        return [drawn(21).initial_seed(), drawn(22).initial_seed(), drawn_random(21).random()]

    one = numbers()
    assert len(set(one)) == 3 and numbers() == one
    monkeypatch.setattr(asserts, "word", "another")
    assert not set(numbers()) & set(one)
    monkeypatch.undo()
    assert numbers() == one


def test_the_same_is_the_same_up_to_rounding():
    x = torch.tensor([1.0, torch.nan, torch.inf])
    assert asserts.same(x, x + 1e-7) and not asserts.same(x, x + 1e-3)
    assert not asserts.same(x, torch.tensor([1.0, torch.nan, -torch.inf]))
    assert not asserts.same(torch.ones(2), torch.ones(2, 1))
    assert asserts.same(torch.ones(2).half(), torch.ones(2).double())
    assert not asserts.same(torch.tensor([1, 2]), torch.tensor([1, 3]))


def test_close_says_what_differs_and_never_the_numbers():
    wanted = torch.tensor([1.25, torch.nan])
    close(torch.tensor([1.25, torch.nan], requires_grad=True), wanted, "weights")
    close(torch.nn.Parameter(wanted), wanted, "weights")
    close(torch.tensor([1.26, torch.nan]), wanted, "weights", tolerance=0.1)
    for given, words in [
        (Agreeable(), "weights: you return Agreeable, asked for is a torch.Tensor"),
        (None, "weights: you return NoneType, asked for is a torch.Tensor"),
        (wanted.tolist(), "weights: you return list, asked for is a torch.Tensor"),
        (torch.nn.Parameter(wanted + 1), "weights: values differ"),
        (wanted.unsqueeze(0), "weights: your shape is (1, 2), asked for is (2,)"),
        (torch.tensor([1.26, torch.nan]), "weights: values differ"),
        (torch.tensor([1.25, 0.0]), "weights: values differ"),
    ]:
        with pytest.raises(AssertionError) as caught:
            close(given, wanted, "weights")
        assert str(caught.value) == words


def test_numbers_are_plain_whatever_dress_they_came_in():
    found = asserts.plain({"a": np.int64(1), "b": [torch.tensor(2.5), np.array(True)], "c": (torch.tensor(3), "word")})
    assert found == {"a": 1, "b": [2.5, True], "c": (3, "word")}
    assert [type(x) for x in (found["a"], *found["b"], found["c"][0])] == [int, float, bool, int]
    vector, stranger = torch.ones(1), Agreeable()
    assert asserts.plain(vector) is vector and asserts.plain(stranger) is stranger


def forever():
    """Ten seconds: an alarm that does not ring must fail here, and not hang."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        pass


def test_an_endless_loop_ends():
    handler, clock = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    with pytest.raises(TimeoutError, match=r"not finished after 0\.01 seconds: an endless loop\?"), limit(0.01):
        forever()
    assert signal.getsignal(signal.SIGALRM) is handler
    assert bool(signal.getitimer(signal.ITIMER_REAL)[0]) == bool(clock[0])  # none, or the one around this test


@pytest.mark.parametrize("processor", [False, True])
def test_a_limit_around_a_limit_still_rings(processor):
    with pytest.raises(TimeoutError, match=r"not finished after 0\.05 seconds"), limit(0.05, processor):
        with limit(30, processor):
            pass
        forever()
    with pytest.raises(ZeroDivisionError), limit(30, processor):
        1 / 0  # noqa: B018


@pytest.mark.parametrize("processor", [False, True])
def test_a_longer_limit_never_outlasts_the_one_around_it(processor):
    expected = pytest.raises(TimeoutError, match=r"not finished after 0\.05 seconds")
    with expected, limit(0.05, processor), limit(30, processor):
        forever()


@pytest.mark.parametrize("processor", [False, True])
def test_what_a_limit_has_used_counts_for_the_one_around_it(processor):
    timer = signal.ITIMER_VIRTUAL if processor else signal.ITIMER_REAL
    with limit(30, processor):
        with pytest.raises(TimeoutError, match=r"not finished after 0\.2 seconds"), limit(0.2, processor):
            forever()
        assert 0 < signal.getitimer(timer)[0] <= 29.85


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("before", "within"), [(30, 30), (0.02, 30), (30, 0.3)])
def test_an_alarm_whose_error_is_dropped_rings_again(before, within, monkeypatch):
    """Python drops the errors of `__del__`, and of what others have it call at each collection of garbage."""
    monkeypatch.setattr(asserts, "AGAIN", 0.02)

    class Busy:
        def __del__(self):
            while True:  # until the alarm rings
                pass

    with pytest.raises(TimeoutError, match=r"not finished after 0\.05 seconds"), limit(0.05, processor=True):
        with limit(before, processor=True):
            pass
        with limit(within, processor=True):
            Busy()
            forever()


def test_a_limit_that_was_over_within_another_rings_when_that_has_ended(monkeypatch):
    """As after an import, which nothing cuts off."""
    now = [0.0]
    monkeypatch.setattr(asserts, "time", SimpleNamespace(monotonic=lambda: now[0]))
    with pytest.raises(TimeoutError, match=r"not finished after 30 seconds"), limit(30):
        with limit(20):
            now[0] = 100.0
        forever()


def test_a_limit_of_the_processor_does_not_count_sleep():
    with pytest.raises(TimeoutError, match=r"0\.05 seconds"), limit(0.05), limit(0.02, processor=True):
        time.sleep(10)  # until the limit of the clock rings, although it is the longer one
    with pytest.raises(TimeoutError, match=r"0\.01 seconds"), limit(0.01, processor=True):
        forever()


#: A module that is loaded until an alarm has rung and been wound up again, twice.
SLOW = """import signal, time
end, left, rung = time.monotonic() + 10, signal.getitimer(signal.ITIMER_REAL)[0], 0
while time.monotonic() < end and rung < 2:
    now = signal.getitimer(signal.ITIMER_REAL)[0]
    rung, left = rung + (now > left), now
"""


def test_an_import_is_never_cut_off(tmp_path, monkeypatch):
    """Half of a module would be left; and whoever imports it has all the time again."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "slow_to_load.py").write_text(SLOW)
    with pytest.raises(TimeoutError, match=r"not finished after 0\.1 seconds"), limit(0.1):
        import slow_to_load  # noqa: F401

        forever()
    assert sys.modules["slow_to_load"].rung == 2


#: What takes some of the processor's time, and as a module takes it to be loaded.
BUSY = "import os\nend = os.times().user + 0.15\nwhile os.times().user < end: pass\n"


def test_what_has_loaded_a_module_has_all_the_time_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "busy_to_load.py").write_text(BUSY)
    done = []
    with limit(0.2, processor=True):
        import busy_to_load  # noqa: F401

        exec(BUSY)
        done.append("all of it, though the alarm has rung after the import")
    assert done


def test_without_an_alarm_clock_there_is_no_limit():
    found = []

    def work():
        with limit(1):
            found.append("done")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == ["done"]
