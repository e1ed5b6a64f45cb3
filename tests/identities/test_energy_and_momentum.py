"""The theorems of energy and momentum: the seven quantities of Llibre, Mampey & Chretien."""

import numpy as np
from hypothesis import given, settings

from support.evaluated import Evaluated, assert_same
from support.plain import Plain
from support.random_mechanisms import LOAD_FORMS, mechanism_of, plans, state_of
from support.rates_along_motion import rate_along_motion
from torseur.describe import BASE, SpringDamper, Transmission, Wrench


def without(mechanism, **fields):
    """The same mechanism with some fields of its springs set to zero."""
    loads = {
        name: load.model_copy(update=fields) if isinstance(load, SpringDamper) else load
        for name, load in mechanism.loads.items()
    }
    return mechanism.model_copy(update={"loads": loads})


# -- energy ------------------------------------------------------------------------------------------------------------
@given(plan=plans(loads=LOAD_FORMS, max_loads=4))
@settings(max_examples=10)
def test_energy_changes_by_the_power_of_what_is_added_and_of_loads_other_than_springs(plan):
    mechanism = mechanism_of(plan)
    s = state_of(mechanism, plan.seed % 1000)
    tau = Evaluated(mechanism)("inverse_dynamics", s.q, s.v, s.vdot, t=s.t, u=s.u)
    others = Plain(without(mechanism, stiffness=0.0)).load_forces(s.q, s.v, s.t, s.u)
    change = rate_along_motion(mechanism, s, "energy", s.vdot)[0]
    assert_same(change, (tau + others) @ s.v, size=float(np.abs(tau) @ np.abs(s.v)))


@given(plan=plans(loads=("spring", "strut", "combination", "motor", "far_motor", "transmission"), max_loads=4))
@settings(max_examples=8)
def test_energy_is_conserved_by_masses_springs_and_rotors_left_alone(plan):
    mechanism = without(mechanism_of(plan), damping=0.0, friction=0.0)
    loads = {
        name: load.model_copy(
            update=dict.fromkeys(("torque", "motor_damping", "motor_friction", "joint_damping", "joint_friction"), 0.0)
        )
        if load.kind == "motor"
        else load
        for name, load in mechanism.loads.items()
    }
    mechanism = mechanism.model_copy(update={"loads": loads})
    s = state_of(mechanism, plan.seed % 1000)
    vdot = Evaluated(mechanism)("forward_dynamics", s.q, s.v, 0 * s.v)
    change = rate_along_motion(mechanism, s, "energy", vdot)[0]
    forces = Evaluated(mechanism)("bias", s.q, s.v)
    M = Evaluated(mechanism)("mass_matrix", s.q)
    size = float(np.abs(s.v) @ (np.abs(forces) + np.abs(M) @ np.abs(vdot)))
    assert_same(change, 0.0, size=size)


# -- momentum ----------------------------------------------------------------------------------------------------------
FREE = ("floating", "floating_rpy", "carrier")
INTERNAL = ("spring", "friction", "strut", "combination", "effort", "pull", "motor", "far_motor", "transmission")


def left_alone(mechanism):
    """Only loads between bodies: none on coordinates of the base, none that ends in the world."""
    outside = {x.name for x in mechanism.q if x.owner == BASE} | {"world"}

    def is_inside(load):
        names = {getattr(load, "coordinate", None), getattr(load, "carrier", None)}
        names |= set(getattr(load, "between", None) or ()) | set(getattr(load, "combination", None) or ())
        return not names & outside

    loads = {name: load for name, load in mechanism.loads.items() if is_inside(load)}
    return mechanism.model_copy(update={"loads": loads})


def assert_momentum_theorem(mechanism, seed, force_and_moment):
    """d(p, L)/dt is what acts from outside: weight at the centre of mass, and the given force and moment."""
    s = state_of(mechanism, seed)
    plain, ours = Plain(mechanism), Evaluated(mechanism)
    is_base = np.array([x.owner == BASE for x in mechanism.v])
    tau = np.where(is_base, 0.0, s.vdot)  # drives at the joints push parent and child alike
    vdot = ours("forward_dynamics", s.q, s.v, tau, t=s.t, u=s.u)
    points = plain._moving_points(s.q, 0 * s.v, 0 * s.v)
    weight = sum(m for m, *_ in points) * plain.g
    moment = np.cross(sum(m * x for m, x, *_ in points), plain.g)
    change = rate_along_motion(mechanism, s, "momentum", vdot)
    size = float(np.abs(ours("momentum", s.q, vdot)).max())
    assert_same(change, np.concatenate([weight, moment]) + force_and_moment(plain, s), size=size)


@given(plan=plans(bases=FREE, loads=INTERNAL, max_bodies=4))
@settings(max_examples=10)
def test_momentum_changes_by_weight_alone_whatever_bodies_do_to_each_other(plan):
    mechanism = left_alone(mechanism_of(plan))
    if any(body.parent == "world" for body in mechanism.bodies.values()):
        return
    assert_momentum_theorem(mechanism, plan.seed % 1000, lambda plain, s: 0.0)


@given(plan=plans(bases=FREE, loads=("wrench", "world_wrench", "drag", "transmission"), max_bodies=4))
@settings(max_examples=8)
def test_momentum_changes_by_what_acts_from_outside(plan):
    mechanism = left_alone(mechanism_of(plan))
    if any(body.parent == "world" for body in mechanism.bodies.values()):
        return

    def outside(plain, s):
        """Forces and their moments about the world origin, read off their power on a rigid motion of everything."""
        total = np.zeros(6)
        for name, load in mechanism.loads.items():
            if isinstance(load, Transmission):
                continue
            # The base carries all: its six speeds move everything as one body. J'(f; n) = Q, at the base's origin.
            pose = plain.motion(s.q, s.v, 0 * s.v)[BASE].T
            J = plain.jacobian(s.q, BASE)[:, :6]
            wrench = np.linalg.solve(J.T, plain.load_force(name, s.q, s.v, s.t, s.u)[:6])
            force, moment = pose[:3, :3] @ wrench[:3], pose[:3, :3] @ wrench[3:]
            total += np.concatenate([force, moment + np.cross(pose[:3, 3], force)])
            assert isinstance(load, Wrench) or load.kind == "drag"
        return total

    assert_momentum_theorem(mechanism, plan.seed % 1000, outside)
