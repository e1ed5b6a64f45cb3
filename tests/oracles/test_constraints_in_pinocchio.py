"""Pinocchio moves closed mechanisms alike: frames welded together, and points held together."""

import numpy as np
import pytest

from support.closed_mechanisms import closed
from support.evaluated import Evaluated, assert_same
from support.pinocchio_peer import InPinocchio
from support.random_mechanisms import BodyPlan, Plan

pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True, scope="module")
def _peer():
    """Imported only when these tests run."""
    global pin
    pin = pytest.importorskip("pinocchio")


KINDS = ("revolute", "spherical", "prismatic", "universal", "revolute", "revolute")


class Constrained:
    """A closed mechanism in Pinocchio; its loops as rigid constraints between two joints."""

    def __init__(self, mechanism):
        self.peer = InPinocchio(pin, mechanism.model_copy(update={"loops": {}}))
        plain = self.peer.plain
        self.models = pin.StdVec_RigidConstraintModel()
        for loop in mechanism.loops.values():
            ends = []
            for name in loop.between:
                body = mechanism.frames[name]
                frames = mechanism.base.frames if body == "base" else mechanism.bodies[body].frames
                before, after = plain._place(frames[name].place)
                joint, offset = self.peer.home[body]
                T = before @ after
                ends += [joint, offset * pin.SE3(T[:3, :3].copy(), T[:3, 3].copy())]
            kind = {"fixed": pin.ContactType.CONTACT_6D, "spherical": pin.ContactType.CONTACT_3D}[loop.joint]
            self.models.append(pin.RigidConstraintModel(kind, self.peer.model, *ends, pin.ReferenceFrame.LOCAL))
        self.data = pin.StdVec_RigidConstraintData()
        for model in self.models:
            self.data.append(model.createData())

    def forward_dynamics(self, q, v, tau):
        peer = self.peer
        pin.initConstraintDynamics(peer.model, peer.data, self.models, self.data)
        exact = pin.ProximalSettings(1e-14, 0.0, 1)
        args = (peer.model, peer.data, peer.q(q), peer.v(v), peer.v(tau), self.models, self.data, exact)
        return pin.constraintDynamics(*args)[peer.rows]


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("cuts", [("spherical",), ("fixed",), ("spherical", "spherical")])
def test_closed_mechanisms_accelerate_alike(cuts, base):
    rng = np.random.default_rng(len(cuts))
    compared = 0
    for seed in range(40):
        parents = [-1, 0, 1, 2, *(int(rng.integers(-1, k)) for k in (4, 5))]
        bodies = tuple(BodyPlan(kind, parent, "rpy") for kind, parent in zip(KINDS, parents, strict=True))
        c = closed(Plan(base, bodies, seed=seed), cuts)
        if not c.conditioned:
            continue
        s, tau = c.state, rng.normal(size=len(c.state.v))
        found = Evaluated(c.mechanism)("forward_dynamics", s.q, s.v, tau)
        assert_same(found, Constrained(c.mechanism).forward_dynamics(s.q, s.v, tau), tolerance=1e-8)
        compared += 1
        if compared == 3:
            return
    pytest.fail(f"only {compared} of 40 random closures have independent rows")
