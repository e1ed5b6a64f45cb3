"""The recursion of Newton and Euler against the equations from energies, two ways that share no step."""

import pytest
from hypothesis import given, settings

from evaluated import Evaluated, arguments_of, assert_same
from mechanisms import BASES, MOVING, BodyPlan, Plan, mechanism_of, plans, state_of
from torseur.describe import WORLD, Motor, Transmission
from torseur.dynamics import lagrange
from torseur.dynamics.kinematics import body_poses
from torseur.dynamics.system import System
from torseur.graph import Function, Role, evaluate, tangents
from torseur.spatial.vectors import dot, matmul, transpose


def rotor_energy(system):
    """What rotors add to T: 1/2 j (ratio v)^2 + j ratio v (e . w), w by differentiating the carrier's pose."""
    mechanism, total = system.mechanism, system.graph.zero
    speeds = [x.name for x in mechanism.v]
    seeds = dict(zip(system.q, lagrange.rates(system), strict=True))
    for load in mechanism.loads.values():
        if not isinstance(load, (Motor, Transmission)):
            continue
        k, j = speeds.index(f"d{load.coordinate}"), system.scalar(load.inertia)
        spin = system.v[k] * (system.scalar(load.ratio) if isinstance(load, Motor) else 1.0)
        total = total + 0.5 * j * spin * spin
        if isinstance(load, Motor):
            owner = mechanism.bodies.get(mechanism.v[k].owner)
            R = body_poses(system)[load.carrier or (WORLD if owner is None else owner.parent)].R
            d = tangents([*R[0], *R[1], *R[2]], seeds)
            turn = matmul(transpose(R), (tuple(d[:3]), tuple(d[3:6]), tuple(d[6:])))
            axis = system.unit(system.vector(load.axis))
            total = total + j * spin * dot(axis, (turn[2][1], turn[0][2], turn[1][0]))
    return total


def by_lagrange(mechanism, s):
    system = System(mechanism)
    vdot = system.graph.block("vdot", len(s.v), Role.STATE)
    bare = lagrange.energies(system)
    energies = lagrange.Energies(bare.T + rotor_energy(system), bare.U)
    tau = lagrange.equations(system, list(vdot), energies)
    function = Function("lagrange", [system.q, system.v, vdot, system.p], {"tau": tau})
    return evaluate(function, *arguments_of(mechanism, function, (s.q, s.v, s.vdot)))[0]


def assert_agree(mechanism, seed=0):
    s = state_of(mechanism, seed)
    assert_same(Evaluated(mechanism, loads=False)("inverse_dynamics", s.q, s.v, s.vdot), by_lagrange(mechanism, s))


@pytest.mark.parametrize("kind", MOVING)
def test_every_joint_kind_twice_in_a_row(kind):
    assert_agree(mechanism_of(Plan("fixed", (BodyPlan(kind, -1), BodyPlan(kind, 0, "rpy", "central")), seed=5)))


@pytest.mark.parametrize("base", BASES)
def test_every_base_with_an_arm_and_oblique_rotors(base):
    bodies = (BodyPlan("revolute", -1, "rpy"), BodyPlan("prismatic", 0), BodyPlan("fixed", 1, "dh"))
    loads = ("motor", "far_motor", "motor", "transmission")
    assert_agree(mechanism_of(Plan(base, bodies, loads, symbols=True, seed=2)))


@given(plan=plans(max_bodies=3, loads=("motor", "far_motor", "transmission")))
@settings(max_examples=15)
def test_random_mechanisms(plan):
    assert_agree(mechanism_of(plan), plan.seed % 1000)
