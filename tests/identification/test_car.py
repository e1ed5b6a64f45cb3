"""A car of sixteen degrees of freedom from its IMU, wheels and forces: a slalom and a run over bumps."""

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Mechanism
from torseur.identification.assessment import advice
from torseur.identification.identification import identify
from torseur.identification.measurements import Measurements

SPEED = 18.0
PHASES = {"fr": 0.0, "fl": 0.9, "rr": 2.1, "rl": 3.4}
SOUGHT = ["M1", "XX1", "XY1", "XZ1", "YY1", "YZ1", "ZZ1", "Ms", "Mw", "XXw", "ZZw"]
SOUGHT += ["Kf", "Kr", "FV", "Kar_f", "Kar_r", "Cd"]


def on_bumps(car):
    """The car where the road under each wheel moves up and down."""
    waves = {
        c: f"t^4/(1 + t^4)*(0.012*sin(7*t + {p}) + 0.006*sin(15*t + {2 * p}) + 0.003*sin(29*t + {3 * p}))"
        for c, p in PHASES.items()
    }
    rows = {n: car.constraints[n].zero.text for n in car.constraints}
    constraints = {n: {"zero": f"{text} - ({waves[n[:2]]})"} for n, text in rows.items()}
    return Mechanism.model_validate(
        {**{f: getattr(car, f) for f in Mechanism.model_fields}, "constraints": constraints}
    )


def driven(steering):
    """Steered wheels, tyres that are linear in their slips, and torques that come and go."""
    found = {}
    for wheel, q in (("fr", "q3"), ("fl", "q8")):
        slip = f"((vy + Lf*wz)/vx + {q})"
        found |= {
            f"steering_torque_{wheel}": f"4000*(({steering}) + {q}) + 150*d{q}",
            f"Fy_{wheel}": f"-38000*{slip}",
            f"Mz_{wheel}": f"900*{slip}",
            f"torque_{wheel}": "200*sin(1.7*t) + 120*sin(4.1*t)",
        }
    for wheel in ("rr", "rl"):
        found |= {f"Fy_{wheel}": "-42000*(vy - Lr*wz)/vx", f"torque_{wheel}": "-150*sin(1.1*t)"}
    for wheel, q in (("fr", "q5"), ("fl", "q10"), ("rr", "q14"), ("rl", "q18")):
        found[f"Fx_{wheel}"] = f"1000*(Ra*d{q} - vx)"
    return found


NOISE = {"imu_f": 0.02, "imu_w": 5e-4, "lambda": 20.0, "F": 20.0, "M": 1.0, "torque": 1.0, "steering": 1.0}


def measured(run, seed):
    """What instruments on the car show: nothing of its place, speed, or slips."""
    car, rng = run.mechanism, np.random.default_rng(seed)
    names = [x.name for x in car.q if x.name not in ("x", "y", "z")] + list(car.inputs)
    names += [f"imu_{a}" for a in ("fx", "fy", "fz", "wx", "wy", "wz")]
    names += [f"lambda_{n}" for n in car.constraints]
    columns = {"time": run.time}
    for n in names:
        level = next((x for start, x in NOISE.items() if n.startswith(start)), 2e-4)
        level = 5e-5 if n in ("q2", "q7", "q12", "q16") else level
        columns[n] = run[n] + level * rng.normal(size=len(run))
    return Measurements.of(columns)


@pytest.fixture(scope="module")
def runs():
    car = ts.examples.load("vehicle_16dof")
    start = {"vx": SPEED} | dict.fromkeys(("dq5", "dq10", "dq14", "dq18"), SPEED / 0.3)
    options = {"until": 8.0, "every": 0.002, "start": start, "blocks": {"imu": {"imu": {"frame": "base"}}}}
    slalom = ts.simulate(car, inputs=driven("0.05*sin(1.5*t) + 0.03*sin(4*t)"), **options)
    bumps = ts.simulate(on_bumps(car), inputs=driven("0.02*sin(2.2*t)"), **options)
    return slalom, bumps


@pytest.mark.slow
@pytest.mark.parametrize("has_loads", [True, False], ids=["with wheel loads", "without wheel loads"])
def test_a_slalom_and_bumps_show_chassis_and_suspensions(runs, has_loads):
    data = Measurements.joined([measured(run, k) for k, run in enumerate(runs)])
    if not has_loads:
        rest = {n: x for n, x in data.columns.items() if not n.startswith("lambda")}
        data = Measurements(data.time, rest)
    found = identify(runs[0].mechanism, data, unknowns=SOUGHT)
    off = (found.estimate.values - found.unknowns.start) / found.estimate.deviations
    assert np.nanmax(np.abs(off)) < 4.0
    for name, share in {"M1": 0.01, "XX1": 0.01, "YY1": 0.01, "ZZ1": 0.01, "Kf": 0.01, "Kr": 0.01, "FV": 0.01}.items():
        assert found.deviations[name] < share * abs(found.values[name])
    for name in ("Kar_f", "Kar_r", "ZZw"):
        assert found.deviations[name] < 0.02 * found.values[name]
    assert set(found.undetermined) == {"Mw", "Cd"}
    assert {x.name: x.verdict for x in found.levels}["Mw"] == "only with Ms"
    if has_loads:  # the suspension and its wheel move as one: no motion tells their masses apart
        assert {a.name: a.motion for a in advice(found)} == {"Mw": "", "Cd": ""}


@pytest.mark.slow
def test_bumps_alone_leave_more_open_than_both(runs):
    slalom, bumps = (measured(run, k) for k, run in enumerate(runs))
    one = identify(runs[0].mechanism, bumps, unknowns=SOUGHT)
    both = identify(runs[0].mechanism, Measurements.joined([slalom, bumps]), unknowns=SOUGHT)
    assert one.deviations["ZZ1"] > 1.5 * both.deviations["ZZ1"]
    assert one.validate(slalom).relative.shape == (16,)


@pytest.mark.slow
def test_a_wheel_load_that_is_missing_is_named(runs):
    data = measured(runs[0], 0)
    rest = {n: x for n, x in data.columns.items() if n != "lambda_rr_on_the_road"}
    with pytest.raises(ts.ArgumentError, match="lambda_rr_on_the_road"):
        identify(runs[0].mechanism, Measurements(data.time, rest), unknowns=SOUGHT)
