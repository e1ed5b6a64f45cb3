"""MuJoCo computes the same for robots from URDF files."""

from pathlib import Path

import numpy as np
import pytest

from support.evaluated import Evaluated, assert_same
from support.random_mechanisms import state_of
from torseur.formats import load
from torseur.model import build

pytestmark = pytest.mark.oracle


@pytest.fixture(autouse=True, scope="module")
def _peer():
    """Imported only when these tests run."""
    global mujoco
    mujoco = pytest.importorskip("mujoco")


URDF = Path(__file__).resolve().parent.parent / "data" / "urdf"


@pytest.mark.parametrize("name", ["ur5", "panda7", "chain12", "tree24", "chain48"])
def test_robots_from_files(name):
    path = URDF / f"{name}.urdf"
    peer = mujoco.MjModel.from_xml_path(str(path))
    peer.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT  # neither limits nor contacts
    data = mujoco.MjData(peer)
    mechanism = load(path)
    model, s = build(mechanism), state_of(mechanism, 3, size=0.5)
    joints = [mujoco.mj_name2id(peer, mujoco.mjtObj.mjOBJ_JOINT, x.name) for x in mechanism.q]
    assert min(joints) >= 0
    rows = [int(peer.jnt_dofadr[j]) for j in joints]
    data.qpos[[int(peer.jnt_qposadr[j]) for j in joints]] = s.q
    data.qvel[rows], data.qacc[rows] = s.v, s.vdot
    mujoco.mj_inverse(peer, data)
    tau = data.qfrc_inverse[rows]
    assert_same(model.inverse_dynamics(s.q, s.v, s.vdot), tau)
    assert_same(model.bias(s.q, s.v), data.qfrc_bias[rows])
    data.qfrc_applied[rows] = tau
    mujoco.mj_forward(peer, data)
    M = np.zeros((peer.nv, peer.nv))
    _full_matrix(peer, data, M)
    M = M[np.ix_(rows, rows)]
    assert_same(model.mass_matrix(s.q), M)
    found = model.forward_dynamics(s.q, s.v, tau)
    assert_same(M @ found, M @ data.qacc[rows], size=float(np.abs(tau).max()))
    mujoco.mj_energyPos(peer, data)
    mujoco.mj_energyVel(peer, data)
    assert_same(Evaluated(mechanism)("kinetic_energy", s.q, s.v), data.energy[1])
    # In MuJoCo what is fixed to the world has a potential energy as well: compare a difference.
    here = data.energy[0] - model.potential_energy(s.q)
    data.qpos[:] = 0.0
    mujoco.mj_forward(peer, data)
    mujoco.mj_energyPos(peer, data)
    assert_same(data.energy[0] - model.potential_energy(0 * s.q), here, size=abs(data.energy[0]))


def _full_matrix(peer, data, M):
    try:
        mujoco.mj_fullM(peer, M, data.qM)
    except (AttributeError, TypeError):  # later versions take the data
        mujoco.mj_fullM(peer, data, M)
