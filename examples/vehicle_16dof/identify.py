"""Chassis, wheels and suspensions of a car from its IMU, its wheels and the forces of the road: a slalom and bumps.

Nothing is known of where the car is or how fast it goes. Run: python examples/vehicle_16dof/identify.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import torseur as ts
from torseur.describe import Mechanism
from torseur.identification.assessment import advice
from torseur.identification.described import save_identification

car = ts.load(Path(__file__).with_name("vehicle_16dof.yaml"))
SPEED = 18.0
BUMPS = "t^4/(1 + t^4)*(0.012*sin(7*t + {0}) + 0.006*sin(15*t + 2*{0}) + 0.003*sin(29*t + 3*{0}))"


def on_bumps() -> Mechanism:
    """The car where the road under each wheel moves up and down."""
    phases = {"fr": 0.0, "fl": 0.9, "rr": 2.1, "rl": 3.4}
    rows = {n: {"zero": f"{row.zero.text} - {BUMPS.format(phases[n[:2]])}"} for n, row in car.constraints.items()}
    return Mechanism.model_validate({**{f: getattr(car, f) for f in Mechanism.model_fields}, "constraints": rows})


def driven(steering: str) -> dict[str, str]:
    """Steered front wheels, tyres that are linear in their slips, torques that come and go."""
    found = {}
    for wheel, q in (("fr", "q3"), ("fl", "q8")):
        slip = f"((vy + Lf*wz)/vx + {q})"
        found[f"steering_torque_{wheel}"] = f"4000*(({steering}) + {q}) + 150*d{q}"
        found |= {f"Fy_{wheel}": f"-38000*{slip}", f"Mz_{wheel}": f"900*{slip}"}
        found[f"torque_{wheel}"] = "200*sin(1.7*t) + 120*sin(4.1*t)"
    for wheel in ("rr", "rl"):
        found |= {f"Fy_{wheel}": "-42000*(vy - Lr*wz)/vx", f"torque_{wheel}": "-150*sin(1.1*t)"}
    for wheel, q in (("fr", "q5"), ("fl", "q10"), ("rr", "q14"), ("rl", "q18")):
        found[f"Fx_{wheel}"] = f"1000*(Ra*d{q} - vx)"
    return found


def measured(model: Mechanism, steering: str, seed: int) -> ts.Measurements:
    """What the instruments show, with noise."""
    start = {"vx": SPEED} | dict.fromkeys(("dq5", "dq10", "dq14", "dq18"), SPEED / 0.3)
    imu = {"imu": {"imu": {"frame": "base"}}}
    run = ts.simulate(model, until=8.0, every=0.002, start=start, inputs=driven(steering), blocks=imu)
    rng = np.random.default_rng(seed)
    noise = dict.fromkeys(("roll", "pitch", "yaw"), 2e-4) | dict.fromkeys(("q2", "q7", "q12", "q16"), 5e-5)
    noise |= dict.fromkeys(("q3", "q8", "q5", "q10", "q14", "q18"), 2e-4)
    noise |= {n: 20.0 if n.startswith("F") else 1.0 for n in car.inputs}
    noise |= {f"imu_{a}": 0.02 for a in ("fx", "fy", "fz")} | {f"imu_{a}": 5e-4 for a in ("wx", "wy", "wz")}
    noise |= {f"lambda_{n}": 20.0 for n in car.constraints}
    columns = {n: run[n] + s * rng.normal(size=len(run)) for n, s in noise.items()}
    return ts.Measurements.of({"time": run.time} | columns)


slalom = measured(car, "0.05*sin(1.5*t) + 0.03*sin(4*t)", 0)
bumps = measured(on_bumps(), "0.02*sin(2.2*t)", 1)
sought = [
    "M1",
    "XX1",
    "XY1",
    "XZ1",
    "YY1",
    "YZ1",
    "ZZ1",
    "Ms",
    "Mw",
    "XXw",
    "ZZw",
    "Kf",
    "Kr",
    "FV",
    "Kar_f",
    "Kar_r",
    "Cd",
]
found = ts.identify(car, ts.Measurements.joined([slalom, bumps]), unknowns=sought)
unseen = found.validate(measured(car, "0.06*sin(2.1*t)", 2))
print(found, found.table(), *advice(found), sep="\n")
print("predicts a slalom that it has not seen:", "yes" if unseen.holds else "no")
off = (found.estimate.values - found.unknowns.start) / found.estimate.deviations
print(f"errors over their deviations: at most {np.nanmax(np.abs(off)):.2f}")

if len(sys.argv) > 1:
    from torseur.views.identification import figures_of_identification
    from torseur.views.plots import save_figure

    save_identification(found, sys.argv[1], unseen=unseen)
    for name, draw in figures_of_identification(found, unseen).items():
        save_figure(draw(), Path(sys.argv[1]) / f"{name}.png")
