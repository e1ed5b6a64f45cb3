"""A process beside: what it gives, and what is said where it does not."""

import os
import signal
import sys

import pytest

from torseur.cli.beside import process_beside
from torseur.errors import TorseurError

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="there is no process beside"
)


def test_work_is_done_in_another_process_after_what_prepares_it():
    done = []
    with process_beside(lambda: done.append(1), lambda x: (x + len(done), os.getpid())) as beside:
        assert beside.begin(2)
        result, process = beside.end()
    assert result == 3
    assert process != os.getpid()
    assert done == []


def test_what_cannot_be_handed_over_is_not_begun():
    with process_beside(list, list) as beside:
        assert not beside.begin(lambda: None)
        assert beside.begin((1, 2))
        assert beside.end() == [1, 2]


def test_an_end_without_an_answer_is_an_error():
    with process_beside(list, lambda: os.kill(os.getpid(), signal.SIGKILL)) as beside:
        assert beside.begin()
        with pytest.raises(TorseurError, match="ended without an answer"):
            beside.end()


def test_the_process_ends_with_the_block():
    with process_beside(list, os.getpid) as beside:
        assert beside.begin()
        process = beside.end()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def _shared(x: int) -> int:
    with process_beside(list, os.getpid) as beside:
        assert beside.begin()
        return x + (beside.end() != os.getpid())


def test_a_process_beside_may_have_another():
    with process_beside(list, _shared) as beside:
        assert beside.begin(2)
        assert beside.end() == 3
