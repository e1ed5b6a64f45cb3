"""The Smera on its tyres: what chapter 4 of Maakaroun 2011 says of its runs, for invented numbers."""

from functools import cache

import numpy as np
import pytest

from support.example_files import EXAMPLES, STUDIES, Example, standard_parameters
from torseur.dynamics.constrained_motion.solver import SwitchedRowsSolver, constraint_solver
from torseur.dynamics.constraints.rows import Owner
from torseur.dynamics.matrices import times
from torseur.dynamics.workbench import Options, Workbench
from torseur.graph import Function, Stage, evaluate
from torseur.model import equations
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.study.reader import read_study

pytestmark = pytest.mark.slow

CORNERS = ("fl", "fr", "rl", "rr")
WEIGHT = 500 * 9.81


@cache
def run_of(study):
    path = STUDIES[f"smera/{study}"]
    return Simulation(read_study(path).study, path.parent).run()


@pytest.mark.parametrize("study", ["braking", "double_turn", "free_lyre"])
def test_loops_and_contacts_stay_closed_and_the_audit_holds(study):
    run = run_of(study)
    assert run.audit().holds
    errors = {row["balance"]: row["error"] for row in run.audit().table}
    assert errors["loops and constraints"] < 1e-9
    assert errors["contacts and stops"] < 1e-9
    assert not run.events  # no wheel lifts


@cache
def car():
    return Example("smera")


def centre_of_mass(q):
    """Of the whole car, in world axes."""
    records = {"base": car().mechanism.base.inertia, **{name: b.inertia for name, b in car().mechanism.bodies.items()}}
    total = np.zeros(4)
    for name, record in records.items():
        p = standard_parameters(car(), record)
        total += car().pose(name, q) @ [p["MX"], p["MY"], p["MZ"], p["M"]]
    return total[:3] / total[3]


def state(run, k):
    return np.array([run[x.name][k] for x in car().mechanism.q])


def test_the_loads_at_rest_carry_the_weight_and_balance_its_moment():
    run = run_of("braking")
    x, y, _ = centre_of_mass(state(run, 0))
    loads = np.array([run[f"{c}_Fz"][0] for c in CORNERS])
    at = np.array([[0.93, 0.35], [0.93, -0.35], [-0.85, 0.35], [-0.85, -0.35]])
    assert loads.sum() == pytest.approx(WEIGHT, rel=1e-9)
    np.testing.assert_allclose(loads @ at, [WEIGHT * x, WEIGHT * y], atol=1e-6)
    np.testing.assert_allclose(loads[::2], loads[1::2], rtol=1e-9)


def test_braking_on_the_front_wheels_lowers_the_nose_and_leaves_the_lyre_at_rest():
    """4.4.1: the rear lyre is still, front struts shorten, rear ones lengthen, the car slows down."""
    run = run_of("braking")
    assert np.max(np.abs(run["tilt"])) < 1e-9
    assert np.max(np.abs(run["y"])) < 1e-9
    for front, rear in (("q33", "q5"), ("q35", "q8")):
        assert run[front][-1] < run[front][0] - 5e-3
        assert run[rear][-1] > run[rear][0] + 5e-3
    assert run["pitch"][-1] > np.radians(0.5)
    assert np.all(np.diff(run["vx"][run.time > 0.6]) < 0.0)
    assert max(run["fl_kappa"][-1], run["fl_Fx"][-1]) < 0.0


def test_loads_and_brake_forces_balance_about_the_centre_of_mass():
    """When the chassis has settled: what is left turns the wheels more slowly."""
    run, k = run_of("braking"), -1
    x, _, z = centre_of_mass(state(run, k))
    contacts = np.array([car().place(f"contact_{c}", state(run, k))[0] for c in CORNERS])
    Fx, Fz = (np.array([run[f"{c}_{f}"][k] for c in CORNERS]) for f in ("Fx", "Fz"))
    slowing = sum(run[f"dq{j}"][k] - run[f"dq{j}"][k - 1] for j in (21, 27, 11, 15)) / (run.time[k] - run.time[k - 1])
    assert Fz.sum() == pytest.approx(WEIGHT, rel=1e-4)
    assert -Fx.sum() * z == pytest.approx(Fz @ (contacts - x) + car().numbers["Is"] * slowing, rel=1e-3)


def test_the_smera_leans_into_the_turn_by_almost_the_angle_of_balance():
    """4.4.2: -atan(V yaw rate / g), within what a PD law leaves; what passengers feel is a small part of it."""
    run = run_of("double_turn")
    for end in (3.5, 7.5):
        k = np.searchsorted(run.time, end)
        wanted = -np.arctan(run["vx"][k] * run["wz"][k] / 9.81)
        assert abs(wanted) > np.radians(14)
        assert run["lean_reference"][k] == pytest.approx(wanted, rel=1e-9)
        left = (wanted - run["roll"][k]) * 6000 - 600 * run["wx"][k]
        assert left == pytest.approx(-run["tilt_torque"][k], rel=0.02)
        assert 0.8 < run["roll"][k] / wanted < 1.0
        assert abs(run["perceived"][k]) < 0.2 * abs(run["vx"][k] * run["wz"][k])
        assert np.sign(run["tilt"][k]) == -np.sign(wanted)


def test_a_free_front_lyre_stays_almost_upright_and_carries_no_moment():
    """In the steady turns it leans a little further than q31 = -roll; its struts then pull equally on both sides."""
    free, held = run_of("free_lyre"), run_of("double_turn")
    p = car().numbers
    for end in (3.5, 7.5):
        k = np.searchsorted(free.time, end)
        assert free["q31"][k] == pytest.approx(-free["roll"][k], rel=0.1)
        assert free["roll"][k] == pytest.approx(held["roll"][k], rel=0.01)
        left, right = (p["Kf"] * (p["rest_f"] - free[q][k]) - p["FVf"] * free[f"d{q}"][k] for q in ("q33", "q35"))
        axis = car().place("front_lyre", state(free, k))
        x = car().turn("front_lyre", state(free, k))[:, 2]
        moment = 0.0
        for force, side in ((left, "l"), (right, "r")):
            top, foot = (car().place(f"{name}_f{side}", state(free, k)) for name in ("pivot", "foot"))
            moment += force * x @ np.cross(top - axis, (top - foot) / np.linalg.norm(top - foot))
        one = abs(left) * p["L14"]
        assert abs(moment) < 0.03 * one  # what is left is the weight of the lyre and its struts
        held_forces = [p["Kf"] * (p["rest_f"] - held[q][k]) for q in ("q33", "q35")]
        assert abs(held_forces[0] - held_forces[1]) > 50.0


def test_the_tilting_motor_stays_within_its_limits():
    run = run_of("double_turn")
    assert np.max(np.abs(run["motor"])) <= car().numbers["motor_torque"]


def test_the_page_reports_the_operations_of_one_evaluation():
    """As `torseur equations examples/smera/smera.yaml --of forward_dynamics --count` prints them."""
    found = equations(car().mechanism, "forward_dynamics").counts
    every_time, once = found[Stage.STATE], found[Stage.PARAMETER]
    said = f"{every_time.products} products and {every_time.sums} sums at every evaluation, "
    said += f"{once.products} and {once.sums} once"
    page = (EXAMPLES.parent / "docs" / "examples" / "smera.md").read_text(encoding="utf-8")
    assert said in " ".join(page.split()), said


def test_a_mirrored_turn_is_the_mirror_image():
    path = STUDIES["smera/double_turn"]
    study, run = read_study(path).study, run_of("double_turn")
    moves = {
        k: b.model_copy(update={"end": -b.end}) for k, b in study.blocks.items() if k in ("right", "left", "ahead")
    }
    mirrored = study.model_copy(update={"blocks": type(study.blocks)({**study.blocks, **moves})})
    other = Simulation(mirrored, path.parent).run()
    odd = {name: name for name in ("y", "roll", "yaw", "tilt")}
    even = {"x": "x", "z": "z", "pitch": "pitch", "q5": "q8", "q33": "q35", "dq11": "dq15", "dq21": "dq27"}
    for sign, pairs in ((-1.0, odd), (1.0, even)):
        for name, twin in pairs.items():
            np.testing.assert_allclose(other[twin], sign * run[name], atol=1e-9, err_msg=name)


@pytest.mark.parametrize("on", [(1, 1, 1, 1), (1, 0, 1, 1), (0, 0, 0, 0)])
def test_loops_with_contacts_on_top_give_what_all_rows_together_give(on):
    w = Workbench(car().mechanism, Options(loads=False))
    g = w.system.graph
    switches, f, b = (g.block(name, n) for name, n in (("switches", 4), ("f", 32), ("right", 19)))
    w.switching.switches |= {Owner("constraints", c): s for c, s in zip(CORNERS, switches, strict=True)}
    solver = constraint_solver(w)
    assert isinstance(solver, SwitchedRowsSolver)
    outputs = {}
    for name, each in (("on_top", solver), ("together", w.dense_solver)):
        x = each.solve(list(f), list(b))
        outputs |= {f"x_{name}": x, f"lam_{name}": each.multipliers(x, list(f)), f"step_{name}": [each.rank]}
    outputs["A_x"] = times(w.constraints.A, outputs["x_on_top"])
    outputs["A_step"] = times(w.constraints.A, solver.closing(list(b)))
    function = Function("solved", [w.system.q, w.system.p, g.blocks["rank"], switches, f, b], outputs)
    rng = np.random.default_rng(0)
    right, count = rng.normal(size=19) * [*[1] * 15, *on], 15 + sum(on)
    values = (
        car().start,
        [car().numbers[n] for n in w.system.p.names],
        [count, count, 0.0],
        on,
        rng.normal(size=32),
        right,
    )
    x, lam, rank, x2, lam2, rank2, met, stepped = evaluate(function, *values)
    assert rank == rank2 == count
    np.testing.assert_allclose(x, x2, atol=1e-10)
    np.testing.assert_allclose(lam, lam2, atol=1e-10)
    np.testing.assert_allclose(met, right, atol=1e-12)
    np.testing.assert_allclose(stepped, right, atol=1e-12)
