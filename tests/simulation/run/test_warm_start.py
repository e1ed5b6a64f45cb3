"""A study that was run before is neither derived nor compiled again, and gives the same bits."""

from contextlib import nullcontext

import numpy as np
import pytest

import torseur as ts
from support.example_files import FILES
from torseur.describe import Effort, Mechanism
from torseur.describe.loads import SpringDamper
from torseur.emit import cache, source
from torseur.emit import integrate as native_runs
from torseur.simulation.plant import native_plant
from torseur.simulation.run.simulate import study_of
from torseur.simulation.run.simulation import Simulation

CART = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 2.0}}
PUSH = {"push": Effort(coordinate="x", value="f")}


def cart(**more):
    given = {"name": "cart", "gravity": (0, 0, 0), "bodies": {"cart": CART}, "loads": PUSH, "inputs": {"f": {}}}
    return Mechanism(**given | more)


@pytest.fixture
def work(monkeypatch, tmp_path):
    """What was derived and compiled so far, with a cache that is empty at first."""
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path / "cache"))
    done = []

    def counted(module, name):
        plain = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *given: (done.append(name), plain(*given))[1])

    counted(native_plant, "constructed")
    counted(source, "assemble")
    counted(native_runs, "assemble")
    return done


def told(run):
    """All numbers and words of a run but the time it took."""
    info = {name: x for name, x in run.info.items() if name != "wall_time"}
    return (
        {name: (c.unit, c.meaning, c.values.tobytes()) for name, c in run.channels.items()},
        info,
        repr(run.audit()),
        run.events,
    )


BALL = {"joint": {"kind": "prismatic", "coordinate": "z", "start": 0.05}, "inertia": {"M": 1.0}}
STUDIES = {
    "loops": {"model": lambda: ts.load(FILES["four_bar"]), "start": {"dq1": 5.0}},
    "a given step": {"model": cart, "inputs": {"f": "sin(5*t)"}, "solver": {"method": "rk4", "step": 0.01}},
    "the second-order form": {"model": cart, "inputs": {"f": "-x"}, "start": {"x": 1.0}, "solver": "newmark"},
    "formulas of time and samples": {
        "model": cart,
        "inputs": {"f": {"sampled": {"value": "if(t > 0.31, 1, 0.5)", "period": 0.1}}},
        "blocks": {"lag": {"lag": {"value": "if(t < 0.123, 2, 0)", "time": 0.1}}},
    },
    "a contact": {
        "model": lambda: Mechanism(
            name="ball",
            gravity=(0, 0, -9.81),
            bodies={"ball": BALL},
            constraints={"ground": {"contact": {"gap": "z", "restitution": 0.5}}},
        ),
    },
}


@pytest.mark.parametrize("name", STUDIES)
def test_a_second_run_derives_and_compiles_nothing_and_is_the_first_to_the_last_bit(name, work):
    given = dict(STUDIES[name])
    study = {"until": 0.5, "every": 0.02, **given}
    model = study.pop("model")
    blocks = study.pop("blocks", None)
    first = ts.simulate(model(), controllers=blocks, **study)
    assert "constructed" in work
    assert "assemble" in work
    work.clear()
    again = ts.simulate(model(), controllers=blocks, **study)
    assert work == []
    assert told(first) == told(again)


def test_runs_side_by_side_are_found_again_too(work):
    study = {"starts": {"x": [0.0, 1.0, 2.0]}, "until": 0.5, "solver": "rk4", "inputs": {"f": [1.0, 2.0, 3.0]}}
    first = ts.simulate_many(cart(), **study)
    work.clear()
    again = ts.simulate_many(cart(), **study)
    assert work == []
    np.testing.assert_array_equal(first.states, again.states)


OTHERS = {
    "a mass": lambda: {"what": cart(bodies={"cart": {**CART, "inertia": {"M": 3.0}}})},
    "a load of the same fields": lambda: {
        "what": cart(loads={**PUSH, "held": SpringDamper(coordinate="x", stiffness=1.0)})
    },
    "an input's formula": lambda: {"inputs": {"f": "cos(t)"}},
    "the order of the method": lambda: {"solver": "dop853"},
    "an output": lambda: {"outputs": {"twice": {"value": "2*x"}}},
    "what stops do": lambda: {"stops": {"model": "ignore"}},
}


@pytest.mark.parametrize("other", OTHERS)
def test_whatever_decides_the_plant_or_its_steps_is_derived_anew(other, work):
    study = {"what": cart(), "inputs": {"f": "sin(t)"}, "until": 0.1, "solver": "dopri5"}
    ts.simulate(**study)
    work.clear()
    changed = study | OTHERS[other]()
    ts.simulate(**changed)
    assert "constructed" in work or "assemble" in work


def test_other_sources_derive_anew(work, monkeypatch):
    ts.simulate(cart(), until=0.1)
    work.clear()
    monkeypatch.setattr(cache, "sources_digest", lambda: "other sources")
    ts.simulate(cart(), until=0.1)
    assert "constructed" in work


def test_a_table_in_a_file_counts_by_what_is_in_it(work, tmp_path):
    file = tmp_path / "push.csv"

    def last():
        run = ts.simulate(cart(), until=1.0, inputs={"f": {"table": {"file": str(file)}}})
        return run["dx"][-1]

    file.write_text("0,1\n1,1\n")
    assert last() == pytest.approx(0.5)
    file.write_text("0,3\n1,3\n")
    assert last() == pytest.approx(1.5)
    work.clear()
    last()
    assert work == []


def test_words_and_the_numbers_of_constants_do_not_count(work):
    ts.simulate(cart(), until=0.1, inputs={"f": 1.0})
    work.clear()
    run = ts.simulate(cart(title="A cart"), until=0.1, inputs={"f": 2.0}, start={"x": 1.0}, every=0.05)
    assert work == []
    assert run["dx"][-1] == pytest.approx(0.1)


def test_python_functions_and_kinds_of_others_are_derived_each_time(work):
    class Push(Effort):
        """Pushes twice as hard since yesterday."""

    def doubled(t):
        return 2.0

    python = {"f": {"python": {"function": doubled, "period": 0.1}}}
    for model, inputs in ((cart(), python), (cart(loads={"push": Push(coordinate="x", value="f")}), {"f": 1.0})):
        for _ in range(2):
            work.clear()
            ts.simulate(model, until=0.2, inputs=inputs)
            assert "constructed" in work


@pytest.mark.parametrize("harm", [lambda b: b[:-3], lambda b: b[:60] + b"\0" + b[61:], lambda b: b""])
def test_facts_that_are_damaged_are_derived_again(harm, work, tmp_path):
    first = ts.simulate(cart(), until=0.1)
    for path in (tmp_path / "cache").iterdir():
        path.write_bytes(harm(path.read_bytes()))
    work.clear()
    assert told(ts.simulate(cart(), until=0.1)) == told(first)
    assert "constructed" in work


@pytest.mark.parametrize("name", STUDIES)
def test_a_run_is_the_same_to_the_last_bit_whichever_process_made_its_code(name, work, monkeypatch, tmp_path):
    given = {"until": 0.5, "every": 0.02, **STUDIES[name]}
    study = study_of(given.pop("model")(), **given)
    alone = Simulation(study).run()
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path / "another"))
    simulation = Simulation(study)
    with simulation.code_ahead():
        shared = simulation.run()
    assert told(shared) == told(alone)


def test_code_that_is_on_disk_is_not_made_ahead(work):
    study = study_of(cart(), until=0.1, inputs={"f": "sin(t)"})
    assert not isinstance(Simulation(study).code_ahead(), nullcontext)
    assert isinstance(Simulation(study).code_ahead(), nullcontext)
