"""Pinocchio computes the same: robots from URDF files, and random trees of every joint kind."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, assert_same
from support.pinocchio_peer import InPinocchio
from support.random_mechanisms import MOVING, mechanism_of, plans, random_plan, state_of
from torseur.describe import Base
from torseur.formats import load
from torseur.model import build

pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True, scope="module")
def _peer():
    """Imported only when these tests run."""
    global pin
    pin = pytest.importorskip("pinocchio")


URDF = Path(__file__).resolve().parent.parent / "data" / "urdf"
ROBOTS = ["ur5", "panda7", "chain12", "tree24", "chain48"]
STRAIGHT = tuple(kind for kind in MOVING if kind != "universal")
KINDS = (*MOVING, "fixed")
BASES = ("fixed", "planar", "floating", "floating_rpy")


# -- from files --------------------------------------------------------------------------------------------------------
class FromFile:
    """A robot read by both, with states in our order."""

    def __init__(self, name, *, floating):
        path = URDF / f"{name}.urdf"
        root = [pin.JointModelFreeFlyer()] if floating else []
        self.model = pin.buildModelFromUrdf(str(path), *root)
        self.data = self.model.createData()
        ours = load(path)
        if floating:
            ours = ours.model_copy(
                update={"base": Base(kind="floating", inertia=ours.base.inertia, frames=ours.base.frames)}
            )
        self.mechanism, self.floating = ours, floating
        first = 6 if floating else 0
        names = [x.name for x in ours.q if x.owner != "base"]
        joints = [self.model.joints[self.model.getJointId(n)] for n in names]
        self.rows = [*range(first), *(j.idx_v for j in joints)]
        self.places = [j.idx_q for j in joints]

    def q(self, q):
        found = np.zeros(self.model.nq)
        if self.floating:
            found[:7] = [*q[:3], *q[4:7], q[3]]
            q = q[7:]
        found[self.places] = q
        return found

    def v(self, v):
        found = np.zeros(self.model.nv)
        found[self.rows] = v
        return found


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_from_files(name, floating):
    peer = FromFile(name, floating=floating)
    ours, s = build(peer.mechanism), state_of(peer.mechanism, 5, size=0.5)
    q, v, a, rows = peer.q(s.q), peer.v(s.v), peer.v(s.vdot), peer.rows
    tau = pin.rnea(peer.model, peer.data, q, v, a)[rows]
    assert_same(ours.inverse_dynamics(s.q, s.v, s.vdot), tau)
    M = pin.crba(peer.model, peer.data, q)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(rows, rows)]
    assert_same(ours.mass_matrix(s.q), M)
    found = ours.forward_dynamics(s.q, s.v, tau)
    assert_same(M @ found, M @ pin.aba(peer.model, peer.data, q, v, peer.v(tau))[rows], size=float(np.abs(tau).max()))
    if len(s.v) <= 30:
        by_q, by_v, _ = pin.computeRNEADerivatives(peer.model, peer.data, q, v, a)
        mine = ours.inverse_dynamics_derivatives(s.q, s.v, s.vdot)
        assert_same(mine.dtau_dq, by_q[np.ix_(rows, rows)])
        assert_same(mine.dtau_dv, by_v[np.ix_(rows, rows)])
    fixed = Evaluated(peer.mechanism)
    energies = (
        pin.computeKineticEnergy(peer.model, peer.data, q, v),
        pin.computePotentialEnergy(peer.model, peer.data, q),
    )
    assert_same(fixed("kinetic_energy", s.q, s.v), energies[0])
    assert_same(fixed("potential_energy", s.q), energies[1])


# -- random trees ------------------------------------------------------------------------------------------------------
def assert_as_pinocchio(mechanism, seed, *, derivatives):
    peer, ours, s = InPinocchio(pin, mechanism), Evaluated(mechanism), state_of(mechanism, seed)
    q, v, a, rows = peer.q(s.q), peer.v(s.v), peer.v(s.vdot), peer.rows
    model, data = peer.model, peer.data
    tau = pin.rnea(model, data, q, v, a)[rows]
    assert_same(ours("inverse_dynamics", s.q, s.v, s.vdot), tau)
    M = pin.crba(model, data, q)
    M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(rows, rows)]
    assert_same(ours("mass_matrix", s.q), M)
    vdot = ours("forward_dynamics", s.q, s.v, tau)
    assert_same(M @ vdot, M @ pin.aba(model, data, q, v, peer.v(tau))[rows], size=float(np.abs(tau).max()))
    assert_same(ours("kinetic_energy", s.q, s.v), pin.computeKineticEnergy(model, data, q, v))
    assert_same(ours("potential_energy", s.q), pin.computePotentialEnergy(model, data, q))
    h = pin.computeCentroidalMomentum(model, data, q, v)
    centre = pin.centerOfMass(model, data, q)
    about_origin = np.concatenate([h.linear, h.angular + np.cross(centre, h.linear)])
    assert_same(ours("momentum", s.q, s.v), about_origin)
    if derivatives:
        by_q, by_v, _ = pin.computeRNEADerivatives(model, data, q, v, a)
        mine = ours("inverse_dynamics_derivatives", s.q, s.v, s.vdot)
        assert_same(mine[0], by_q[np.ix_(rows, rows)])
        assert_same(mine[1], by_v[np.ix_(rows, rows)])
        pin.computeABADerivatives(model, data, q, v, peer.v(tau))
        _, forward_q, forward_v, forward_tau = ours("forward_dynamics_derivatives", s.q, s.v, tau)
        loose = 1e-10 + 1e-13 * np.linalg.cond(M)
        assert_same(forward_q, data.ddq_dq[np.ix_(rows, rows)], tolerance=loose)
        assert_same(forward_v, data.ddq_dv[np.ix_(rows, rows)], tolerance=loose)
        inverse = data.Minv if np.allclose(data.Minv, data.Minv.T) else np.triu(data.Minv) + np.triu(data.Minv, 1).T
        assert_same(forward_tau, inverse[np.ix_(rows, rows)], tolerance=loose)


@given(plan=plans(bases=BASES, kinds=KINDS))
@settings(max_examples=40)
def test_random_trees(plan):
    assert_as_pinocchio(mechanism_of(plan), plan.seed % 1000, derivatives=False)


@given(plan=plans(bases=BASES, kinds=(*STRAIGHT, "fixed"), max_bodies=4))
@settings(max_examples=20)
def test_derivatives_of_random_trees(plan):
    assert_as_pinocchio(mechanism_of(plan), plan.seed % 1000, derivatives=True)


@pytest.mark.parametrize("seed", range(3))
def test_trees_of_forty_joints(seed):
    rng = np.random.default_rng(seed)
    mechanism = mechanism_of(random_plan(rng, 40, base="floating", kinds=STRAIGHT))
    peer, ours, s = InPinocchio(pin, mechanism), Evaluated(mechanism), state_of(mechanism, seed, size=0.3)
    q, v, a, rows = peer.q(s.q), peer.v(s.v), peer.v(s.vdot), peer.rows
    assert_same(ours("inverse_dynamics", s.q, s.v, s.vdot), pin.rnea(peer.model, peer.data, q, v, a)[rows])
    by_q, by_v, _ = pin.computeRNEADerivatives(peer.model, peer.data, q, v, a)
    mine = ours("inverse_dynamics_derivatives", s.q, s.v, s.vdot)
    assert_same(mine[0], by_q[np.ix_(rows, rows)])
    assert_same(mine[1], by_v[np.ix_(rows, rows)])


@given(plan=plans(bases=BASES, kinds=KINDS, min_bodies=2))
@settings(max_examples=15)
def test_frames_of_random_trees(plan):
    mechanism = mechanism_of(plan)
    peer, ours, s = InPinocchio(pin, mechanism), Evaluated(mechanism), state_of(mechanism, plan.seed % 1000)
    model, data, q = peer.model, peer.data, peer.q(s.q)
    pin.forwardKinematics(model, data, q, peer.v(s.v), peer.v(s.vdot))
    for name in list(mechanism.bodies)[:3]:
        joint, offset = peer.home[name]
        assert_same(ours("pose", s.q, frame=name), (data.oMi[joint] * offset).homogeneous)
        velocity = offset.actInv(data.v[joint])
        assert_same(ours("velocity", s.q, s.v, frame=name), velocity.vector)
        spatial = offset.actInv(data.a[joint])
        classical = spatial.linear + np.cross(velocity.angular, velocity.linear)
        found = ours("acceleration", s.q, s.v, s.vdot, frame=name)
        assert_same(found, np.concatenate([classical, spatial.angular]))
        J = (
            offset.toActionMatrixInverse() @ pin.computeJointJacobian(model, data, q, joint)
            if joint
            else np.zeros((6, model.nv))
        )
        assert_same(ours("jacobian", s.q, frame=name), J[:, peer.rows])
