"""Regrouped inertial parameters move the mechanism alike, and there are fewer of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from support.evaluated import Evaluated, assert_same
from support.random_mechanisms import LOAD_FORMS, MOVING, BodyPlan, Plan, mechanism_of, plans, state_of
from support.sweeps import mostly_slow
from torseur.describe import Mechanism
from torseur.dynamics.tree.newton_euler import inverse_dynamics
from torseur.dynamics.tree.system import System
from torseur.dynamics.tree.tree import Tree
from torseur.graph import Function, Graph, Role, Stage, count_by_stage, evaluate, jacobian
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints import KINDS
from torseur.spatial.pose import Motion
from torseur.spatial.vectors import Vector, cross, dot

NAMES = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")

DYNAMIC = ("inverse_dynamics", "mass_matrix", "bias", "gravity", "forward_dynamics", "inverse_dynamics_derivatives")
ENERGIES = ("kinetic_energy", "potential_energy", "momentum")
FREE_COUNTS = {
    "revolute": {"YY", "MZ", "M"},
    "prismatic": {"XX", "XY", "XZ", "YY", "YZ", "ZZ"},
    "universal": {"M"},
    "spherical": {"M"},
    "cylindrical": {"YY"},
    "planar": {"YY"},
    "screw": {"YY"},
    "free": set(),
    "free_rpy": set(),
}
"""What each joint hands to its parent (Khalil & Dombre 9.4.2 for the first two)."""


def assert_alike(mechanism, seed):
    full, base = Evaluated(mechanism, base_parameters=False), Evaluated(mechanism, base_parameters=True)
    s = state_of(mechanism, seed)
    M = full("mass_matrix", s.q)
    values = {"q": s.q, "v": s.v, "vdot": s.vdot, "tau": M @ s.vdot}
    size = float(max(np.abs(M).max(), np.abs(full("bias", s.q, s.v, t=s.t, u=s.u)).max()))
    for quantity in (*DYNAMIC, *ENERGIES):
        args = [values[b.name] for b in full.function(quantity).inputs if b.name in values]
        one, two = (ours(quantity, *args, t=s.t, u=s.u) for ours in (full, base))
        slack = 1e-14 * np.linalg.cond(M) if quantity == "forward_dynamics" else 0.0
        for a, b in zip(_listed(one), _listed(two), strict=True):
            assert_same(b, a, size=size, tolerance=1e-10 + slack)


def _listed(found):
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.parametrize("kind", mostly_slow(MOVING, quick=("revolute", "spherical", "free")))
def test_what_a_joint_does_not_notice_may_be_its_parents(kind):
    chain = (BodyPlan("universal", -1, "rpy"), BodyPlan(kind, 0, "rpy"), BodyPlan(kind, 1, "mdh", "central"))
    assert_alike(mechanism_of(Plan("floating", chain, seed=8)), 1)


@given(plan=plans(loads=LOAD_FORMS, max_bodies=4))
@settings(max_examples=6)
def test_random_mechanisms_move_alike_with_base_parameters(plan):
    assert_alike(mechanism_of(plan), plan.seed % 1000)


@pytest.mark.parametrize("kind", MOVING)
def test_regrouping_removes_what_the_rule_says(kind):
    """The part taken and the part left make the whole; nothing that was named is left behind."""
    g = Graph()
    body = Inertia.from_ten(*g.block("ten", 10, names=list(NAMES)))
    left = body - KINDS[kind].unnoticed(body)
    gone = {name for name, x in zip(NAMES, left.ten(), strict=True) if x is g.zero}
    assert gone == FREE_COUNTS[kind]


@pytest.mark.parametrize("kind", MOVING)
def test_what_is_moved_has_the_same_energy_on_either_side_of_the_joint(kind):
    """The definition itself: kinetic energy and weight of the unnoticed part, carried by child or by parent."""
    joint, g = KINDS[kind], Graph()
    q, v, p = g.block("q", joint.nq), g.block("v", joint.nv), g.block("p", 10, Role.PARAMETER)
    V, w, pitch = g.block("V", 3), g.block("w", 3), g.block("h", len(joint.settings))
    part = joint.unnoticed(Inertia.from_ten(*p))
    pose = joint.pose(g, list(q), list(pitch))

    def energy(body, motion):
        V, w = motion
        return 0.5 * (body.M * dot(V, V) + dot(w, body.J @ w)) + dot(V, cross(w, body.MS))

    parent = Motion(Vector(*V), Vector(*w))
    child = pose.inv @ parent
    for column, speed in zip(joint.subspace(g, list(q), list(pitch)), v, strict=True):
        child += speed * column
    first = part.M * pose.P + pose.R @ part.MS
    difference = [energy(part, child) - energy(part, parent), *(first - part.MS)]
    check = Function("difference", [q, v, p, V, w, pitch], {"d": difference})
    rng = np.random.default_rng(3)
    args = [rng.normal(size=(20, *b.shape)) for b in check.inputs]
    if "qw" in {x.suffix for x in joint.coordinates}:
        args[0][:, -4:] /= np.linalg.norm(args[0][:, -4:], axis=1)[:, None]
    assert_same(evaluate(check, *args)[0], np.zeros((20, 4)), size=10.0)


def test_base_parameters_take_fewer_operations_with_symbols():
    chain = tuple(BodyPlan("revolute", k - 1) for k in range(4))
    mechanism = mechanism_of(Plan("fixed", chain, symbols=True, seed=1))
    full, base = (Evaluated(mechanism, base_parameters=b).function("inverse_dynamics") for b in (False, True))
    assert count_by_stage(base)[Stage.STATE].total < count_by_stage(full)[Stage.STATE].total


def test_regrouped_parameters_have_symoros_names():
    mechanism = mechanism_of(
        Plan("fixed", (BodyPlan("revolute", -1), BodyPlan("revolute", 0, "rpy")), symbols=True, seed=2)
    )
    tree = Tree(System(mechanism), regroup=True)
    labels = {tree.system.graph.label(x) for link in tree.links for x in link.inertia.ten() if not x.is_number}
    assert {"ZZR1", "XXR1"} <= labels


@pytest.mark.parametrize("kinds", ["RRPR", "RRRRR", "RUR", "SR", "CR", "SPR"])
def test_no_relation_is_left_between_the_regrouped_parameters_of_a_general_chain(kinds):
    """The regressor of what is left has full rank: with axes in general position the set is minimal.

    A slide before the second axis of rotation is not general: there one first moment more could go.
    """
    kind_of = {"R": "revolute", "P": "prismatic", "U": "universal", "S": "spherical", "C": "cylindrical"}
    rng = np.random.default_rng(5)
    bodies = {}
    for k, letter in enumerate(kinds):
        pose = {"position": tuple(rng.uniform(0.2, 0.6, 3)), "rpy": tuple(rng.uniform(0.3, 1.2, 3))}
        inertia = dict.fromkeys(NAMES, 1.0)
        parent = f"b{k - 1}" if k else "base"
        bodies[f"b{k}"] = {"parent": parent, "place": {"pose": pose}, "joint": kind_of[letter], "inertia": inertia}
    mechanism = Mechanism.model_validate({"name": "general", "bodies": bodies, "gravity": (1.0, 2.0, 9.0)})
    system = System(mechanism)
    g, tree = system.graph, Tree(system, regroup=True)
    left = [[x is not g.zero for x in link.inertia.ten()] for link in tree.links]
    symbols = g.block("s", sum(map(sum, left)), Role.PARAMETER)
    rest = iter(symbols)
    tree.links = [
        replace(link, inertia=Inertia.from_ten(*(next(rest) if kept else g.zero for kept in row)))
        for link, row in zip(tree.links, left, strict=True)
    ]
    vdot = g.block("vdot", tree.nv)
    tau = inverse_dynamics(tree, list(vdot), system.vector(mechanism.gravity))
    regressor = Function("regressor", [system.q, system.v, vdot], {"Y": jacobian(tau, list(symbols)).dense()})
    states = [state_of(mechanism, k) for k in range(40)]
    Y = np.concatenate([evaluate(regressor, s.q, s.v, s.vdot)[0] for s in states])
    seen = Y[:, np.abs(Y).max(0) > 1e-9]
    assert np.linalg.matrix_rank(seen / np.linalg.norm(seen, axis=0), tol=1e-8) == seen.shape[1]
