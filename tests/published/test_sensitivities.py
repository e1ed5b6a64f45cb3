"""Derivatives of a run with respect to parameters: a slider-crank of SUNDIALS."""

import math

import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism
from torseur.describe.loads import KINDS as LOADS
from torseur.simulation.blocks import Integral
from torseur.simulation.run.sensitivities import Sensitivities, Varied
from torseur.simulation.run.simulation import Simulation
from torseur.simulation.run.variants import Variants


def turning(name):
    return {"kind": "revolute", "coordinate": name}


def along(x):
    return {"place": {"pose": {"position": (x, 0, 0)}}}


@pytest.mark.parametrize(
    "solver", [{"method": "dop853", "rtol": 1e-9}, {"method": "rk4", "step": 0.01}], ids=["dop853", "rk4"]
)
def test_the_energy_of_a_slider_crank_over_time_changes_with_its_spring_and_damper(solver):
    """idasSlCrank_FSA_dns of SUNDIALS (Serban & Petra), with tolerances of 1e-6.

    Its output says G = 3.33662, the integral of the kinetic energy over 10 s, and dG/dk = 0.33346, dG/dc = -0.36375
    by forward sensitivities, 0.33345 and -0.36375 by central differences. The crank is 0.5 m, the rod 1 m long.
    """
    crank = {"crank_pin": along(0.5), "crank_middle": along(0.25)}
    rod = {"rod_pin": along(-1.0), "rod_middle": along(-0.5)}
    across, back = ({"pose": {"rpy": (0, turn, 0)}} for turn in (math.pi / 2, -math.pi / 2))
    slider = {"place": across, "joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
    middle = ("crank_middle", "rod_middle")
    model = Mechanism(
        name="slider_crank",
        gravity=(0.0, 0.0, 0.0),
        parameters={"k": {"value": 1.0}, "c": {"value": 1.0}},
        bodies={
            "crank": {"joint": turning("q"), "inertia": {"ZZ": 1.0}, "frames": crank},
            "slider": slider,
            "rod": {"parent": "slider", "place": back, "joint": turning("p"), "inertia": {"ZZ": 2.0}, "frames": rod},
        },
        loops={"pin": {"between": ("crank_pin", "rod_pin"), "joint": "revolute"}},
        loads={
            "strut": LOADS["spring"](between=middle, stiffness="k", damping="c", rest=1.0),
            "push": Effort(coordinate="x", value=1.0),
            "turn": Effort(coordinate="p", value="-sin(p)"),
        },
    )
    study = ts.Study(
        model=model,
        start={"q": math.pi / 2},
        guess={"p": -math.pi / 6, "x": math.cos(math.pi / 6)},
        blocks={"G": Integral(value="0.5*dq^2 + 0.5*dx^2 + dp^2")},
        until=10,
        every=1,
        solver=solver,
    )
    simulation = Simulation(study, audit=False)
    sensitivities = Sensitivities(simulation, [Varied("parameters", n, 0.9, 1.1) for n in ("k", "c")], ["G_state"])
    assert sensitivities.why_not is None
    found = sensitivities.of(Variants(simulation, {}, {"k": [1.0], "c": [1.0]}, {}))
    assert found.values["G_state"][0, -1] == pytest.approx(3.33662, abs=2e-5)
    assert found.slopes["G_state"][0, -1] == pytest.approx([0.33345, -0.36375], abs=1e-5)
