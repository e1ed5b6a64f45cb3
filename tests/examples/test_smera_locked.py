"""With both lyres locked and stiff struts the Smera is a car on four wheels: it moves as the template does."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import torseur as ts
from support.example_files import EXAMPLES, Example, standard_parameters

pytestmark = pytest.mark.slow

CORNERS = {"fl": "front_left", "fr": "front_right", "rl": "rear_left", "rr": "rear_right"}
SPINS = {"fl": "q21", "fr": "q27", "rl": "q11", "rr": "q15"}
TREAD = {"stiffness": 150000.0, "damping": 1500.0}
STIFF = 1e8
STEERING = "0.03*if(t > 2, if(t < 3, sin(pi*(t - 2)/2)^2, 1), 0)"


def locked(car):
    """Lyres that do not turn, steering angles that are given, and treads that are pressed in."""
    p = car.numbers
    struts = (("rest_r", "s5", "Kr"), ("rest_f", "s33", "Kf"))
    rests = {rest: p[s] + p[k] * (p[rest] - p[s]) / STIFF for rest, s, k in struts}
    numbers = {"Kr": STIFF, "Kf": STIFF, "FVr": 1e5, "FVf": 1e5, **rests}
    lines = ["torseur: 1", "like: smera.yaml", "name: locked"]
    lines += ["parameters:", "  K_lyre: null", *(f"  {name}: {value!r}" for name, value in numbers.items())]
    lines += ["inputs: {delta: {unit: rad, description: steering}}", "constraints:", "  lyre_follows_roll: null"]
    held = {"q31": "0", "q2": "pi/2", "q19": "delta - pi/2", "q25": "delta + pi/2"}
    lines += [f"  held_{q}: {{prescribed: {{coordinate: {q}, equals: {value}}}}}" for q, value in held.items()]
    tread = f"stiffness: {TREAD['stiffness']}, damping: {TREAD['damping']}"
    wheel = "{{rolling: {{wheel: wheel_{0}, axle: z, radius: Ra, road: road, under: base, slides: freely, {1}}}}}"
    lines += [f"  {c}: {wheel.format(c, tread)}" for c in CORNERS]
    return "\n".join(lines) + "\n"


def as_one_body(car):
    """All of the Smera but its wheels, as it rests, in the frame of the chassis: ten parameters."""
    to_chassis = np.linalg.inv(car.pose("base"))
    M, MS, J = 0.0, np.zeros(3), np.zeros((3, 3))
    records = {"base": car.mechanism.base.inertia, **{n: b.inertia for n, b in car.mechanism.bodies.items()}}
    for name, record in records.items():
        p = standard_parameters(car, record)
        if name.startswith("wheel") or not p["M"]:
            continue
        T = to_chassis @ car.pose(name)
        R, c = T[:3, :3], np.array([p["MX"], p["MY"], p["MZ"]]) / p["M"]
        own = np.array([[p["XX"], p["XY"], p["XZ"]], [p["XY"], p["YY"], p["YZ"]], [p["XZ"], p["YZ"], p["ZZ"]]])
        own = R @ (own - p["M"] * (c @ c * np.eye(3) - np.outer(c, c))) @ R.T
        at = T[:3, 3] + R @ c
        M, MS, J = M + p["M"], MS + p["M"] * at, J + own + p["M"] * (at @ at * np.eye(3) - np.outer(at, at))
    names = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
    return dict(zip(names, [*J[np.triu_indices(3)], *MS, M], strict=True))


def template(car):
    """The four-wheel template with the mass, inertia, track and tyres of the Smera."""
    p = car.numbers
    law = ", ".join(f"{name.removeprefix('tyre_')}: {value!r}" for name, value in p.items() if name.startswith("tyre_"))
    wheel = f"{{radius: {p['Ra']}, mass: {p['Mw']}, spin_inertia: {p['Is']}, tilt_inertia: {p['Id']}, contact: under, "
    wheel += f"stiffness: {TREAD['stiffness']}, damping: {TREAD['damping']}}}"
    inertia = ", ".join(f"{name}: {float(value)!r}" for name, value in as_one_body(car).items())
    lines = ["torseur_vehicle: 1", "name: four_wheels", f"gravity: {p['g']}"]
    lines += [f"chassis: {{height: {p['h']}, inertia: {{{inertia}}}}}", "axles:"]
    for name, x, steered in (("front", p["L8"], "true"), ("rear", -p["L4"] - p["L6"] * abs(np.cos(p["a9"])), "false")):
        lines += [f"  {name}:", f"    x: {x}", f"    track: {2 * p['L5']}", f"    hub_height: {p['Ra'] - p['h']}"]
        lines += [f"    wheel: {wheel}", "    suspension: {rigid: {}}", f"    steered: {steered}"]
        lines += [f"    tyre: {{pacejka_1989: {{{law}}}}}"]
    return "\n".join(lines) + "\n"


@cache
def runs():
    """The same turn of both."""
    car, found = Example("smera"), []
    with TemporaryDirectory() as folder:
        shutil.copytree(EXAMPLES / "smera", Path(folder) / "smera")
        place = Path(folder) / "smera"
        for text, steering, spins in (
            (locked(car), "delta", [f"d{SPINS[c]}" for c in CORNERS]),
            (template(car), "steering", [f"dspin_{w}" for w in CORNERS.values()]),
        ):
            (place / "changed.yaml").write_text(text, encoding="utf-8")
            start = {"vx": 10.0, "z": 0.492, **dict.fromkeys(spins, 10.0 / car.numbers["Ra"])}
            solver = {"method": "rodas", "rtol": 1e-6, "atol": 1e-8}
            model = ts.load(place / "changed.yaml")
            found.append(ts.simulate(model, start=start, inputs={steering: STEERING}, until=5.0, solver=solver))
    return found


def apart(one, other):
    """From the turn on, over the largest."""
    return np.abs(one - other).max() / np.abs(other).max()


def test_yaw_rate_lateral_acceleration_and_loads_are_those_of_four_wheels():
    smera, four = runs()
    turning = smera.time > 1.5
    pairs = [("yaw rate", "wz", "wz", 1.0), ("roll", "roll", "roll", 1.0)]
    pairs += [(f"load {c}", f"{c}_Fz", f"{w}_Fz", 1.0) for c, w in CORNERS.items()]
    errors = {what: apart(smera[a][turning], four[b][turning]) for what, a, b, _ in pairs}
    sideways = [run["vx"] * run["wz"] + np.gradient(run["vy"], run.time) for run in (smera, four)]
    errors["lateral acceleration"] = apart(*(a[turning] for a in sideways))
    print({what: f"{100 * error:.4f} %" for what, error in errors.items()})
    assert np.abs(sideways[1]).max() > 1.5
    assert max(errors.values()) < 0.01
    for run in (smera, four):
        assert run.audit().holds
