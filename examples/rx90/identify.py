"""The parameters of the RX90 from measurements: a motion that shows them, torques with noise, estimates, validation.

Run: python examples/rx90/identify.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np

import torseur as ts
from torseur.identification.described import save_identification
from torseur.identification.excitation import Excitation, Limits

arm = ts.build(ts.load(Path(__file__).with_name("rx90.yaml")))
names = [x.name for x in arm.coordinates]


def measured(motion: Excitation, seed: int) -> ts.Measurements:
    """Three periods at 500 Hz: encoders of 0.01 degree, torques of 1 % of their largest."""
    rng = np.random.default_rng(seed)
    q, tau = (np.tile(x[:-1], (3, 1)) for x in (motion.q, motion.effort))
    q = q + np.radians(0.01) * rng.normal(size=q.shape)
    tau = tau + 0.01 * np.abs(tau).max(axis=0) * rng.normal(size=tau.shape)
    columns = {f"{n} [rad]": x for n, x in zip(names, q.T, strict=True)}
    columns |= {f"tau_{n} [N m]": x for n, x in zip(names, tau.T, strict=True)}
    return ts.Measurements.of({"time [s]": motion.time[1] * np.arange(len(q))} | columns)


limits = Limits(position=1.5, speed=2.5, acceleration=8.0)
motion = ts.excite(arm, limits=limits, starts=2, iterations=25, step=0.002)
other = ts.excite(arm, limits=limits, starts=1, iterations=0, seed=7, step=0.002)
print(f"condition number: {other.condition:.1f} of a random motion, {motion.condition:.1f} of the one that was sought")

found = ts.identify(arm, measured(motion, 0))
unseen = found.validate(measured(other, 1))
print(found, found.table(), sep="\n")
for name, x, told in zip(unseen.names, unseen.relative, unseen.expected, strict=True):
    print(f"  {name}: {100 * x:.2g} % off, {100 * told:.2g} % expected")
print("predicts a motion that it has not seen:", "yes" if unseen.holds else "no")
off = (found.estimate.values - found.unknowns.start) / found.estimate.deviations
print(f"errors over their deviations: at most {np.abs(off).max():.2f}, root mean square {np.sqrt(np.mean(off**2)):.2f}")

if len(sys.argv) > 1:
    from torseur.views.identification import figures_of_identification
    from torseur.views.plots import save_figure

    save_identification(found, sys.argv[1], unseen=unseen)
    for name, draw in figures_of_identification(found, unseen).items():
        save_figure(draw(), Path(sys.argv[1]) / f"{name}.png")
