"""Linkages with redundant constraints move as geometry says, by every method, over whole turns."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from support.overconstrained_linkages import LINKAGES, bennett, cranks, described
from support.sweeps import mostly_slow
from torseur.bench.first_use import plate as plate_of
from torseur.dynamics.quantities import function_of
from torseur.emit import integrate, source
from torseur.errors import NumericalError
from torseur.simulation.solvers.methods import METHODS

QUICK = "dopri5", "rk4", "newmark"
"""One method of each kind; the others, which compile for longer, go with the slow tests."""


def each(methods):
    return mostly_slow(methods, [name for name in methods if name in QUICK])


def difference(linkage, q):
    """How far the coordinates are from the closed form at the run's own crank angle, whole turns aside."""
    return float(np.abs(np.angle(np.exp(1j * (q - linkage.closed_form(q[..., 0]))))).max())


def moved(linkage, until, **options):
    first = next(iter(linkage.start))
    start = {**linkage.start, f"d{first}": linkage.spin}
    run = ts.simulate(linkage.mechanism, until=until, start=start, every=until / 100, **options)
    assert run.complete, run.reason
    return run, np.stack([run[x.name] for x in linkage.mechanism.q], axis=-1)


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("method", mostly_slow(METHODS, quick=("dopri5",)))
def test_every_method_keeps_the_linkage_on_its_closed_form(name, method):
    linkage = LINKAGES[name]
    run, q = moved(linkage, linkage.time, solver={"method": method})
    assert difference(linkage, q) < 1e-8
    assert run.audit().holds, run.audit()


@pytest.mark.parametrize("name", LINKAGES)
def test_the_number_of_redundant_rows_is_found(name):
    linkage = LINKAGES[name]
    model = ts.build(linkage.mechanism)
    found = model.mobility()
    assert found.freedoms == 1
    assert len(found.redundant) == len(model.constraint_rows) - found.rank == linkage.redundant


def test_the_coupled_axles_of_a_locomotive_turn_a_hundred_times():
    """At every quarter turn the rod of one side is at its dead centre and cannot say which way its cranks go on."""
    linkage = LINKAGES["locomotive"]
    run, q = moved(linkage, 80.0, solver={"method": "dopri5", "rtol": 1e-8, "atol": 1e-10})
    assert q[-1, 0] - q[0, 0] > 100 * 2 * math.pi
    assert difference(linkage, q) < 1e-8
    assert run.audit().holds, run.audit()


@pytest.mark.parametrize("start", [0.05, 1.2, 2.7, 3.9, 5.5])
@pytest.mark.parametrize("name", mostly_slow(["plate on three cranks", "Bennett", "locomotive"], quick=("Bennett",)))
def test_any_regular_position_will_do_to_start_from(name, start):
    linkage = LINKAGES[name]
    names, q = [x.name for x in linkage.mechanism.q], linkage.closed_form(np.array(start))
    given = dict(zip(names[1:], map(float, q[1:]), strict=True))
    run = ts.simulate(linkage.mechanism, until=3.0, guess=given, start={"q1": start, "dq1": linkage.spin}, every=0.05)
    assert run.complete, run.reason
    assert difference(linkage, np.stack([run[n] for n in names], axis=-1)) < 1e-8


def test_a_parallelogram_passes_its_change_points_on_its_branch():
    linkage = cranks(2, gravity=2.0)
    _, q = moved(linkage, 20.0, solver={"method": "dopri5", "rtol": 1e-9, "atol": 1e-11})
    assert abs(q[-1, 0] - q[0, 0]) > 4 * math.pi
    assert difference(linkage, q) < 1e-8


@pytest.mark.parametrize("name", mostly_slow(LINKAGES, quick=("Bennett", "locomotive")))
def test_a_little_off_closure_the_accelerations_are_nearly_the_same(name):
    """A threshold on singular values would see one rank more there, and lock the linkage."""
    linkage = LINKAGES[name]
    model, rng = ts.build(linkage.mechanism), np.random.default_rng(0)
    q = linkage.closed_form(np.array(linkage.start[next(iter(linkage.start))] + 0.1))
    v, tau = model.assemble(q, speeds=rng.normal(size=model.nv)).v, rng.normal(size=model.nv)
    exact = model.forward_dynamics(q, v, tau)
    assert np.abs(exact).max() > 1e-3
    for _ in range(5):
        near = model.forward_dynamics(q + 1e-7 * rng.uniform(-1, 1, model.nq), v, tau)
        assert np.abs(near - exact).max() < 1e-5 * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize("name", mostly_slow(LINKAGES, quick=("Bennett",)))
def test_reactions_do_not_jump_where_pivots_change(name):
    """Second differences along a fine path are small beside the reactions everywhere."""
    linkage = LINKAGES[name]
    model = ts.build(linkage.mechanism)
    first = linkage.start[next(iter(linkage.start))]
    path = np.linspace(first, first + (0.3 if name in ("Sarrus", "scissors") else 6.0), 20_001)
    q = np.unwrap(linkage.closed_form(path), axis=0)
    null = np.linalg.svd(model.constraint_jacobian(q))[2][:, -1]
    v = null / null[:, :1]
    lam, rank = model.multipliers(q, v, np.ones((len(q), model.nv)))
    assert set(rank) == {rank[0]}
    assert np.abs(lam[2:] - 2 * lam[1:-1] + lam[:-2]).max() < 1e-6 * np.abs(lam).max()


def test_multipliers_are_of_minimum_norm_in_newtons():
    """Torques count by the length of the mechanism: no other multipliers with the same effect are shorter."""
    model = ts.build(LINKAGES["Bennett"].mechanism)
    q = model.assemble({"q1": 1.3}).q
    lam, _ = model.multipliers(q, np.zeros(3), np.array([0.3, -0.2, 0.5]))
    A = model.constraint_jacobian(q)
    links, ends = 0.4**2 + 0.7**2, 0.4**2 + 0.7**2
    weight = np.array([math.sqrt(links + ends) if row.unit == "N m" else 1.0 for row in model.constraint_rows])
    null = np.linalg.svd((weight[:, None] * A).T)[2][2:]
    assert np.abs(null @ (lam / weight)).max() < 1e-12 * np.abs(lam).max()


# -- ranks belong to parameters, branches and units --------------------------------------------------------------------
def plate(third):
    """A plate on two equal parallel cranks and a third one, whose length is a parameter."""
    return described(cranks(3, lengths=(0.4, 0.4, "l3")).mechanism, parameters={"l3": {"value": third}})


@pytest.mark.slow
def test_each_run_of_a_batch_has_its_own_mobility():
    """With a third crank of the same length the plate moves; with another one it is a structure."""
    many = ts.simulate_many(
        plate(0.4),
        parameters={"l3": [0.4, 0.42, 0.4, 0.39]},
        starts={"dq1": [2.0, 0.0, 2.0, 0.0]},
        until=1.0,
        solver="rk4",
    )
    turn = np.abs(many["q1"][:, -1] - many["q1"][:, 0])
    assert (turn[[0, 2]] > 0.5).all()
    assert (turn[[1, 3]] < 1e-9).all()
    assert np.abs(many["q1"][0] - many["q3"][0]).max() < 1e-9


def test_ranks_follow_the_parameters():
    model = ts.build(plate(0.4))
    assert model.ranks(np.array([[0.4], [0.45], [0.4]]))[:, 0].tolist() == [3.0, 4.0, 3.0]


@pytest.mark.parametrize("unit", mostly_slow([1.0, 1e-3, 1e-6, 1e3], quick=(1.0, 1e-6)))
def test_rank_and_mobility_do_not_depend_on_the_size_of_the_links(unit):
    """A four-bar of micrometres beside a coupling has the mobility of one of metres."""
    lengths = [0.5 * unit, 1.5 * unit, 1.2 * unit, 1.4 * unit]
    rod = {"mass": 1.0, "centre": [0, 0, 0], "tensor": [1e-3, 0.1, 0.1]}
    bodies = {
        "crank": {"joint": {"kind": "revolute", "coordinate": "q1"}, "inertia": rod},
        "coupler": {
            "parent": "crank",
            "steps": [{"tx": lengths[0]}],
            "joint": {"kind": "revolute", "coordinate": "q2", "start": 0.9},
            "inertia": rod,
            "frames": {"coupler_end": [lengths[1], 0, 0]},
        },
        "rocker": {
            "steps": [{"tx": lengths[3]}],
            "joint": {"kind": "revolute", "coordinate": "q3", "start": 1.8},
            "inertia": rod,
            "frames": {"rocker_end": [lengths[2], 0, 0]},
        },
        "wheel": {"joint": {"kind": "revolute", "coordinate": "q4"}, "inertia": rod},
    }
    model = ts.build(
        described(
            {
                "name": "small",
                "bodies": bodies,
                "loops": {"pin": {"joint": "revolute", "between": ["coupler_end", "rocker_end"]}},
                "constraints": {"geared": {"coupling": {"coordinate": "q4", "equals": "2*q1"}}},
            }
        )
    )
    found = model.mobility()
    assert (found.freedoms, found.rank, found.redundant) == (1, 3, ())
    assert model.ranks()[0] == 3.0


def test_a_linkage_typed_to_a_few_digits_is_explained():
    with pytest.raises(NumericalError, match="overconstrained") as error:
        ts.assemble(bennett(digits=6).mechanism, {"q1": 0.9})
    assert "more digits" in str(error.value)


def test_a_rank_in_doubt_is_said():
    """Two rows that differ by 1e-7, half way between what counts and rounding."""
    rod = {"mass": 1.0, "centre": [0, 0, 0], "tensor": [1e-3, 0.1, 0.1]}
    bodies = {n: {"joint": {"kind": "revolute", "coordinate": n}, "inertia": rod} for n in ("a", "b", "c")}
    rows = {"first": {"zero": "a - b"}, "second": {"zero": "a - b + 1e-7*c"}}
    model = ts.build(described({"name": "doubt", "bodies": bodies, "constraints": rows}))
    with pytest.warns(ts.errors.TorseurWarning, match="rank of constraint rows is in doubt(.|\n)*first, second"):
        model.ranks()


# -- nothing is written out that grows with the cube, nothing is compiled in the middle of a run -----------------------
@pytest.mark.parametrize("quantity", ["forward_dynamics", "corrected"])
def test_code_of_many_redundant_rows_grows_with_their_number_and_not_with_its_cube(quantity):
    sizes = [len(function_of(described(plate_of(rows)), quantity).nodes) for rows in (10, 20, 40)]
    assert sizes[2] - sizes[1] < 3.0 * (sizes[1] - sizes[0])


def test_a_contact_that_opens_and_closes_compiles_nothing(monkeypatch):
    """The rank and the rows that count are numbers: a long run with events compiles what a short one without does."""
    ball = {"joint": {"kind": "prismatic", "coordinate": "z", "start": 0.05}, "inertia": {"M": 1.0}}
    bodies = {**plate_of(4)["bodies"], "ball": ball}
    gaps = {"ground": {"contact": {"gap": "z", "restitution": 0.5}}, "again": {"contact": {"gap": "2*z"}}}
    bouncing = described({**plate_of(4), "gravity": [0, 0, -9.81], "bodies": bodies, "constraints": gaps})
    monkeypatch.setenv("TORSEUR_CACHE", "off")
    counts = []
    for until in (0.01, 1.0):
        made = []
        for module in (source, integrate):
            plain = module.assemble
            monkeypatch.setattr(module, "assemble", lambda *a, plain=plain, made=made: made.append(1) or plain(*a))
        run = ts.simulate(bouncing, until=until, solver="dopri5")
        assert run.complete, run.reason
        counts.append(len(made))
        monkeypatch.undo()
        monkeypatch.setenv("TORSEUR_CACHE", "off")
    assert run.events
    assert counts[0] == counts[1] > 0


@pytest.mark.parametrize("name", mostly_slow(LINKAGES, quick=("Bennett", "Sarrus")))
def test_the_reduced_form_gives_the_same_accelerations_over_the_whole_path(name):
    linkage = LINKAGES[name]
    model, first = ts.build(linkage.mechanism), next(iter(linkage.start))
    reach = 0.3 if name in ("Sarrus", "scissors") else 6.0
    q = np.unwrap(linkage.closed_form(linkage.start[first] + np.linspace(0.0, reach, 50)), axis=0)
    null = np.linalg.svd(model.constraint_jacobian(q))[2][:, -1]
    v, tau = null / null[:, :1], np.tile(np.linspace(-1.0, 1.0, model.nv), (50, 1))
    full = model.forward_dynamics(q, v, tau)
    _, reduced = model.function("reduced_forward_dynamics", independent=[f"d{first}"])(q, v, tau)
    assert np.abs(reduced - full).max() < 1e-9 * np.abs(full).max()


# -- change points and scales ------------------------------------------------------------------------------------------
def four_bar(crank, coupler, rocker, ground, start, near, unit=1.0, tag=""):
    """The bodies and the loop of a planar four-bar linkage, all of mass one."""
    rod = {"mass": 1.0, "centre": [0, 0, 0], "tensor": [0.1 * unit**2] * 3}

    def turning(name, guess):
        return {"kind": "revolute", "coordinate": f"{name}{tag}", **guess}

    bodies = {
        f"crank{tag}": {"joint": turning("q1", {"start": start}), "inertia": rod},
        f"coupler{tag}": {
            "parent": f"crank{tag}",
            "steps": [{"tx": crank * unit}],
            "joint": turning("q2", {"guess": near[0]}),
            "inertia": rod,
            "frames": {f"coupler_end{tag}": [coupler * unit, 0, 0]},
        },
        f"rocker{tag}": {
            "steps": [{"tx": ground * unit}],
            "joint": turning("q3", {"guess": near[1]}),
            "inertia": rod,
            "frames": {f"rocker_end{tag}": [rocker * unit, 0, 0]},
        },
    }
    return bodies, {f"pin{tag}": {"joint": "revolute", "between": [f"coupler_end{tag}", f"rocker_end{tag}"]}}


@pytest.mark.parametrize("method", each(("dopri5", "dop853", "rk4", "rodas")))
@pytest.mark.parametrize(
    ("lengths", "near"),
    [
        ((0.6, 1.0, 0.6, 1.0), (-0.7, 0.7)),  # parallelogram
        ((0.6, 1.0, 0.6, 1.0), (-1.2, -1.0)),  # antiparallelogram
        pytest.param((1.0, 0.6, 0.6, 1.0), (2.0, 1.0), marks=pytest.mark.slow),  # kite
        pytest.param((0.5, 1.2, 0.7, 1.0), (0.5, 1.6), marks=pytest.mark.slow),  # Grashof-neutral
    ],
)
def test_change_points_are_passed_with_the_energy_kept(lengths, near, method):
    """Step control leads into the singular position, where a pivot that is nothing but noise must not count."""
    bodies, loops = four_bar(*lengths, 0.7, near)
    mechanism = described({"name": "change", "gravity": [0, 0, 0], "bodies": bodies, "loops": loops})
    run = ts.simulate(mechanism, until=4.0, every=0.02, start={"q1": 0.7, "dq1": 2.0}, solver={"method": method})
    assert run.complete, run.reason
    assert run.audit().holds, run.audit()
    steps = np.abs(np.diff(np.stack([run["dq1"], run["dq2"], run["dq3"]]), axis=1)).max()
    assert steps < 1.0, "speeds jump"


def test_a_small_loop_moves_alike_beside_a_large_one():
    """Two similar linkages, of metres and of micrometres, that share nothing: their angles are the same."""
    parts = [four_bar(0.5, 1.5, 1.2, 1.4, 0.4, (0.9, 1.8), unit, tag) for unit, tag in ((1.0, "a"), (1e-6, "b"))]
    bodies, loops = ({**parts[0][k], **parts[1][k]} for k in (0, 1))
    mechanism = described({"name": "both", "gravity": [0, 0, 0], "bodies": bodies, "loops": loops})
    run = ts.simulate(mechanism, until=3.0, every=0.05, start={"q1a": 0.4, "q1b": 0.4, "dq1a": 2.0, "dq1b": 2.0})
    assert run.complete, run.reason
    for name in ("q1", "q2", "q3"):
        assert np.abs(run[f"{name}a"] - run[f"{name}b"]).max() < 1e-8
