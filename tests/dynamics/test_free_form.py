"""Kinematics written as formulas of coordinates: the equations of motion from energies (Kanyiki & Ntambwe 14-21)."""

import numpy as np
import pytest

from evaluated import Evaluated, arguments_of, assert_same
from torseur.describe import Mechanism
from torseur.dynamics import lagrange
from torseur.dynamics.system import System
from torseur.errors import ModelError
from torseur.graph import Function, Role, evaluate

INERTIAS = (
    {"mass": 2.0, "centre": (0.2, 0.1, 0.0), "tensor": {"xx": 0.1, "yy": 0.2, "zz": 0.25, "xy": 0.01}},
    {"XX": 0.3, "YY": 0.4, "ZZ": 0.5, "XY": -0.05, "MX": 0.3, "MZ": -0.1, "M": 1.5},
)
JOINTS = {
    "name": "joints",
    "gravity": (0.4, -9.0, 1.0),
    "bodies": {
        "a": {"joint": {"kind": "revolute", "coordinate": "q1"}, "inertia": INERTIAS[0]},
        "b": {
            "parent": "a",
            "place": {"mdh": {"alpha": 0.7, "d": 0.3}},
            "joint": {"kind": "prismatic", "coordinate": "q2"},
            "inertia": INERTIAS[1],
        },
    },
}
# The same as products of elementary transforms from the base, the coordinates among them.
FORMULAS = {
    **JOINTS,
    "name": "formulas",
    "coordinates": {"q1": {"unit": "rad"}, "q2": {"unit": "m"}},
    "bodies": {
        "a": {"place": {"steps": [{"rz": "q1"}]}, "inertia": INERTIAS[0]},
        "b": {"place": {"steps": [{"rz": "q1"}, {"rx": 0.7}, {"tx": "0.3"}, {"tz": "q2"}]}, "inertia": INERTIAS[1]},
    },
}
FORMULAS["bodies"]["b"]["place"]["steps"] = [{"rz": "q1"}, {"rx": 0.7}, {"tx": 0.3}, {"tz": "q2"}]
Q, V, A = np.array([0.4, -0.3]), np.array([1.1, 0.7]), np.array([-0.5, 2.0])


def equations(content):
    mechanism = Mechanism.model_validate(content)
    system = System(mechanism)
    vdot = system.graph.block("vdot", len(mechanism.v), Role.STATE)
    tau = lagrange.equations(system, list(vdot))
    return mechanism, Function("tau", [system.q, system.v, vdot, system.p], {"tau": tau})


def forces(content, q=Q, v=V, a=A):
    mechanism, function = equations(content)
    return evaluate(function, *arguments_of(mechanism, function, (q, v, a)))[0]


def test_formulas_and_joints_are_one_mechanism():
    joints = Mechanism.model_validate(JOINTS)
    assert_same(forces(FORMULAS), forces(JOINTS))
    assert_same(forces(FORMULAS), Evaluated(joints)("inverse_dynamics", Q, V, A))
    assert [x.unit for x in Mechanism.model_validate(FORMULAS).v] == ["rad/s", "m/s"]


def test_a_mechanism_that_no_chain_of_joints_can_be():
    """A bead on a parabola: x = s, y = s^2 / 2, m [(1 + s^2) s'' + s s'^2] + m g s = tau."""
    bead = {
        "name": "bead",
        "gravity": (0.0, -9.81, 0.0),
        "coordinates": {"s": {"unit": "m"}},
        "bodies": {"bead": {"place": {"steps": [{"tx": "s"}, {"ty": "s^2/2"}]}, "inertia": {"mass": 3.0}}},
    }
    s, ds, dds = 0.7, -1.3, 0.4
    expected = 3.0 * ((1 + s * s) * dds + s * ds * ds) + 3.0 * 9.81 * s
    assert_same(forces(bead, [s], [ds], [dds]), [expected])


def test_formulas_of_coordinates_on_a_moving_joint_count_too():
    """A revolute joint whose place slides with the coordinate of another."""
    bodies = {
        "a": JOINTS["bodies"]["a"],
        "b": {
            "place": {"steps": [{"tx": "0.5*q1"}]},
            "joint": {"kind": "revolute", "coordinate": "q2"},
            "inertia": {"mass": 2.0, "centre": (0.3, 0.0, 0.0)},
        },
    }
    content = {**JOINTS, "gravity": (0.0, 0.0, 0.0), "bodies": bodies}
    q2, w1, w2 = 0.6, 1.1, 0.7
    # x = q1/2 + 0.3 cos q2, y = 0.3 sin q2: the equation of q2 is m 0.09 q2'' - m 0.15 sin(q2) q1''.
    tau = forces(content, [0.2, q2], [w1, w2], [1.0, 0.5])
    assert_same(tau[1], 2.0 * (0.09 * 0.5 - 0.15 * np.sin(q2) * 1.0))


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "mass_matrix", "kinetic_energy"])
def test_recursions_refuse_what_has_no_joints(quantity):
    with pytest.raises(ModelError, match="free-form") as error:
        Evaluated(Mechanism.model_validate(FORMULAS)).function(quantity)
    assert "Lagrange" in str(error.value)


def test_a_coordinate_that_moves_nothing_is_refused():
    idle = {**JOINTS, "coordinates": {"s": {"unit": "m"}}}
    with pytest.raises(ModelError, match="'s'"):
        Evaluated(Mechanism.model_validate(idle)).function("forward_dynamics")
