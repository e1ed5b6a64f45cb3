"""No collection while expressions are derived and compiled, and the collector as it was behind that."""

import gc
import os

import pytest

from torseur.bench import workloads
from torseur.dynamics.quantities import function_of
from torseur.emit import compile_keyed
from torseur.emit.cache import cache_key
from torseur.graph.collecting import collector_at_rest

DERIVED = "derived"


@pytest.fixture
def collections():
    """Generations that were collected, as they come."""
    seen = []

    def note(phase, info):
        if phase == "start":
            seen.append(info["generation"])

    gc.callbacks.append(note)
    yield seen
    gc.callbacks.remove(note)


def test_nothing_is_collected_while_a_function_is_derived_and_compiled(collections, monkeypatch, tmp_path):
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path))
    arm = workloads.chain_arm(6)
    cache_key("our own sources")  # which are read once by a process
    collections.clear()
    compile_keyed("a chain", lambda: derived(arm, collections)).ready()
    assert collections.count(DERIVED) == 1
    inside = collections[: collections.index(DERIVED)]
    assert inside.count(0) <= 1  # on the way there
    nodes = [[] for _ in range(100_000)]
    assert len(collections) > len(inside) + 10  # the probe sees collections, and they go on
    assert len(nodes) == 100_000


def derived(arm, collections):
    """The mass matrix of an arm, some 10 000 objects; that it is there is noted among the collections."""
    function = function_of(arm, "mass_matrix")
    collections.append(DERIVED)
    return function


def _raise_inside():
    with collector_at_rest():
        with collector_at_rest():
            assert not gc.isenabled()
        assert not gc.isenabled()
        raise KeyError


@pytest.mark.parametrize("was_on", [True, False])
def test_the_collector_is_left_as_it_was(was_on):
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        with pytest.raises(KeyError):
            _raise_inside()
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()


def test_the_collector_rests_until_the_last_thread_is_done():
    """The one that came first may leave first."""
    first, second = collector_at_rest(), collector_at_rest()
    before = gc.isenabled()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled() is before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_collects_again_and_what_its_parent_began_does_no_harm():
    with collector_at_rest():
        child = os.fork()
        if not child:
            os._exit(0 if gc.isenabled() else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert not gc.isenabled()
    assert gc.isenabled()
