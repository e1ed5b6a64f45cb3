"""The collector of faults: all of them at once, in the order of the text, up to a hundred."""

import pickle

import pytest

from torseur.describe.faults import Fault, Severity, printable, shown
from torseur.errors import ModelError
from torseur.formats.files import MOST_FAULTS, Faults, Mark


def faulty(count):
    found = Faults("arm.yaml")
    for k in range(count):
        found.fault(Mark(1 + k, 1), ("bodies", k), "wrong")
    return found


def test_faults_are_raised_in_the_order_of_the_text():
    found = Faults("a")
    for line, column in ((3, 1), (1, 9), (1, 2), (2, 5)):
        found.fault(Mark(line, column), (), "wrong")
    with pytest.raises(ModelError) as caught:
        found.stop_if_any()
    assert [fault.where for fault in caught.value.faults] == ["a:1:2", "a:1:9", "a:2:5", "a:3:1"]


def test_none_is_no_error():
    Faults("a").stop_if_any()
    assert len(Faults("a")) == 0


def test_a_hundred_faults_are_told_and_the_next_is_the_last_word():
    assert len(faulty(MOST_FAULTS).error().faults) == MOST_FAULTS == 100
    with pytest.raises(ModelError) as caught:
        faulty(MOST_FAULTS + 1)
    assert len(caught.value.faults) == MOST_FAULTS + 1
    assert caught.value.faults[-1].what == "too many faults; the rest is not looked at"
    with pytest.raises(ModelError, match="too many faults"):
        faulty(MOST_FAULTS).add(Mark(200, 1), ModelError("of another file", where="b:1:1"))


def test_a_fault_is_an_error_with_a_path_and_keeps_both_over_a_process_border():
    fault = Fault(("bodies", "a", 1), "wrong", got="x", severity=Severity.WARNING, about="a")
    placed = fault.in_file("arm.yaml:2:3", ("links", "a"))
    for one in (fault, placed, pickle.loads(pickle.dumps(placed))):
        assert isinstance(one, ModelError)
        assert (one.path, one.severity, one.about) == (("bodies", "a", 1), Severity.WARNING, "a")
    assert fault.where == "bodies.a[1]"
    assert str(pickle.loads(pickle.dumps(placed))) == "arm.yaml:2:3: links.a: wrong\n  got: x"


def test_every_error_may_say_where_by_a_path():
    error = ModelError("wrong", where=("changes", 0, "set"))
    assert (error.where, error.location) == ("changes[0].set", ("changes", 0, "set"))
    assert ModelError("wrong", where="here").location == ()


def test_what_is_shown_of_a_file_is_short_and_has_no_control_characters():
    assert printable("a\x1b[31m\nb\x00") == "a\ufffd[31m\nb\ufffd"
    assert shown("x" * 58) == repr("x" * 58)
    assert shown("x" * 59) == "'" + "x" * 56 + "..."
    assert shown("a\x1b") == "'a\\x1b'"
