"""Code made ahead: who makes which piece, what is waited for, and that nothing stays behind."""

import os
import signal
import sys
import time
from functools import partial

import pytest

from torseur.emit.ahead import forked, made_ahead, needed

two_processors = pytest.mark.skipif(
    sys.platform != "linux" or len(os.sched_getaffinity(0)) < 2, reason="there is no process beside"
)


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path / "cache"))


def makers(path):
    """Which processes made a piece."""
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def make(path, pause=0.0):
    time.sleep(pause)
    with path.open("a") as file:
        file.write(f"{os.getpid()}\n")


def until(path):
    while not path.exists():
        time.sleep(0.01)


@two_processors
def test_a_piece_that_is_begun_beside_is_waited_for(tmp_path):
    first = tmp_path / "first"

    def slowly():
        (tmp_path / "begun").touch()
        make(first, pause=0.2)

    with made_ahead({"first": slowly}):
        until(tmp_path / "begun")
        needed("first")
        (maker,) = makers(first)
    assert maker != os.getpid()


@two_processors
def test_while_it_waits_this_process_makes_what_nobody_has_begun(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"

    def until_the_other_is_there():
        (tmp_path / "begun").touch()
        until(second)
        make(first)

    with made_ahead({"first": until_the_other_is_there, "second": partial(make, second)}):
        until(tmp_path / "begun")
        needed("first")
        needed("second")
    assert makers(second) == [os.getpid()]
    assert len(makers(first)) == 1
    assert makers(first) != makers(second)


@two_processors
def test_a_piece_that_nobody_has_begun_is_left_to_who_needs_it(tmp_path):
    second = tmp_path / "second"

    def until_told():
        (tmp_path / "begun").touch()
        until(tmp_path / "told")

    with made_ahead({"first": until_told, "second": partial(make, second)}):
        until(tmp_path / "begun")
        needed("second")
        assert makers(second) == []
        (tmp_path / "told").touch()
        needed("first")
    assert makers(second) == []


@two_processors
@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: 1 / 0])
def test_whoever_fails_beside_is_not_waited_for(tmp_path, end):
    def fail():
        (tmp_path / "begun").touch()
        end()

    with made_ahead({"first": fail}):
        until(tmp_path / "begun")
        needed("first")
    assert (tmp_path / "begun").exists()


@two_processors
def test_the_process_ends_with_the_block_however_that_ends():
    told, tell = os.pipe()

    def for_ever():
        os.write(tell, str(os.getpid()).encode())
        time.sleep(1000.0)

    def interrupted():
        with forked(for_ever):
            found.append(int(os.read(told, 20)))
            os.kill(found[0], signal.SIGINT)  # as a terminal does, to all processes in front: this one decides
            time.sleep(0.1)
            os.kill(found[0], 0)
            raise KeyboardInterrupt

    found = []
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with pytest.raises(ProcessLookupError):
        os.kill(found[0], 0)
    os.close(told)
    os.close(tell)


@pytest.mark.parametrize("without", ["processor", "cache", "fork"])
def test_without_a_process_beside_every_piece_is_left_to_who_needs_it(tmp_path, monkeypatch, without):
    first = tmp_path / "first"
    if without == "processor":
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    elif without == "cache":
        monkeypatch.setenv("TORSEUR_CACHE", "off")
    else:
        monkeypatch.setattr(sys, "platform", "darwin")
    with made_ahead({"first": partial(make, first)}):
        needed("first")
    assert makers(first) == []


def test_what_is_not_made_ahead_is_not_waited_for(tmp_path):
    needed("first")
    with made_ahead({"first": partial(make, tmp_path / "first")}):
        needed("second")
