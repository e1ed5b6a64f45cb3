"""One ring of bodies described with this or that joint cut: the same motion, energies and forces in the joints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.evaluated import Evaluated, assert_same
from support.ring_mechanisms import Ring
from support.sweeps import mostly_slow
from torseur.spatial.joints import KINDS

CUTS = tuple(name for name, kind in KINDS.items() if kind.nv < 6)
SEEDS = st.integers(0, 2**31)


class Moving:
    """A ring with joint c cut, under efforts at its other joints."""

    def __init__(self, ring, c, tau):
        self.ring, self.c, self.of = ring, c, ring.cut(c)
        d, self.call = self.of, Evaluated(self.of.mechanism)
        self.tau = ring.efforts(d, tau)
        self.vdot = self.call("forward_dynamics", d.q, d.v, self.tau)
        frames = [f"own{k}" for k in range(len(ring.bodies))]
        self.velocities = [self.call("velocity", d.q, d.v, frame=name) for name in frames]
        self.accelerations = [self.call("acceleration", d.q, d.v, self.vdot, frame=name) for name in frames]

    def wrench(self):
        """What the cut joint does to the body beyond it: force, and moment about the world origin, in world axes."""
        found = self.call("loop_wrenches", self.of.q, self.of.v, self.tau)
        Ta, Tb = (self.call("pose", self.of.q, frame=end) for end in ("cut_a", "cut_b"))
        force, torque = Ta[:3, :3] @ found[:3], Ta[:3, :3] @ found[3:]
        return np.concatenate([force, torque + np.cross(Tb[:3, 3], force)])

    def carried(self, W, to):
        """The wrench in a later joint from that in the cut one, by Newton's and Euler's laws of the bodies between."""
        loads = self.ring.loaded(self.velocities)
        for k in range(self.c, to):
            W = W - self.ring.needed(k, self.accelerations[k], self.velocities[k]) + loads[k]
        return W


def both(ring, one, other):
    """The ring cut at one joint and at another, which have no effort of their own."""
    tau = [ring.rng.normal(size=len(v)) for v in ring.v]
    tau[one], tau[other] = 0.0 * tau[one], 0.0 * tau[other]
    return Moving(ring, one, tau), Moving(ring, other, tau)


def assert_same_motion(a, b, tolerance=1e-9):
    for x, y in zip(a.velocities, b.velocities, strict=True):
        assert_same(x, y)
    for x, y in zip(a.accelerations, b.accelerations, strict=True):
        assert_same(x, y, tolerance=tolerance)
    for name in ("kinetic_energy", "energy"):
        assert_same(a.call(name, a.of.q, a.of.v), b.call(name, b.of.q, b.of.v), size=10.0)


def mobile(kinds, seed):
    """A ring of these joints, padded until something can move."""
    while sum(KINDS[kind].nv for kind in kinds) < 7:
        kinds = (*kinds, "revolute")
    ring = Ring(kinds, seed)
    singular = np.linalg.svd(ring.columns, compute_uv=False)
    assume(singular[5] > 0.05)
    return ring


@pytest.mark.parametrize("cut", mostly_slow(CUTS, quick=("revolute", "planar")))
@settings(max_examples=1)
@given(seed=SEEDS)
def test_which_joint_is_cut_does_not_matter(cut, seed):
    """A cut joint of each kind against a cut revolute one; forces carried from one to the other agree."""
    rng = np.random.default_rng(seed)
    others = tuple(str(x) for x in rng.choice([k for k in CUTS if k != "fixed"], 2))
    ring = mobile((others[0], cut, others[1], "revolute"), seed)
    a, b = both(ring, 1, 3)
    assert_same_motion(a, b)
    assert_same(a.carried(a.wrench(), 3), b.wrench(), size=10.0, tolerance=1e-8)


@pytest.mark.parametrize("cuts", [(0, 4), (1, 2)])
def test_redundant_planar_rings_move_alike_whichever_joint_is_cut(cuts):
    """Parallel axes, somewhere in space: two of the five equations of the cut joint are independent."""
    ring = Ring(("revolute",) * 5, 11, flat=True)
    assert ring.rank == 3
    a, b = both(ring, *cuts)
    assert_same_motion(a, b)
    for moving in (a, b):
        assert moving.call("multipliers", moving.of.q, moving.of.v, moving.tau)[1] == 2


def test_forces_in_the_plane_of_a_planar_ring_are_unique():
    """The redundant parts differ between descriptions; what drives the motion does not."""
    ring = Ring(("revolute", "revolute", "prismatic", "revolute"), 5, flat=True)
    assert ring.rank == 3
    a, b = both(ring, 0, 3)
    assert_same_motion(a, b)
    x, y, z = (ring.A[0][:3, k] for k in range(3))
    one, other = a.carried(a.wrench(), 3), b.wrench()
    for axis in (x, y):
        assert_same(axis @ one[:3], axis @ other[:3], size=10.0, tolerance=1e-9)
    assert_same(z @ one[3:], z @ other[3:], size=10.0, tolerance=1e-9)
    assert np.abs(one - other).max() > 1e-3
