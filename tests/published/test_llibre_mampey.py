"""Llibre, Mampey & Chretien 1983: their two algorithms with motors, as printed and corrected, against ours.

The chain is RPRRPR with gear ratios and rotor axes in any direction. Section II is the Newton-Euler recursion with
actuators; section III.2 the backward recursion for the inertia matrix. Both are written here as in the paper, in plain
NumPy.

=============  ===========================================================================
P, l           axes and origin of a joint in the body before it, at q = 0
m, d, I        mass, centre of mass, tensor there; the rotor a body carries is part of it
rho, tau       1 and 0 for a revolute joint, 0 and 1 for a prismatic one
alpha, e, j    gear ratio; axis (in the body before) and inertia of the rotor
i              inertia of the rotor across its axis
=============  ===========================================================================
"""

from dataclasses import dataclass

import numpy as np
import pytest

from support.evaluated import Evaluated, assert_same
from support.lagrangian import by_lagrange
from support.random_mechanisms import State
from torseur.describe import Mechanism, Motor
from torseur.dynamics.quantities import Workbench
from torseur.dynamics.tree.inertia_matrix import mass_matrix

KINDS = "RPRRPR"
N = len(KINDS)
G = np.array([0.3, -0.8, -9.7])


def skew(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


@dataclass
class Body:
    P: np.ndarray
    l: np.ndarray  # noqa: E741 (the paper's name)
    m: float
    d: np.ndarray
    I: np.ndarray  # noqa: E741
    rho: int
    tau: int
    alpha: float
    e: np.ndarray
    j: float
    i: float

    def S(self, q):
        """S_i = P_i [tau 1 + rho R_i]."""
        c, s = np.cos(q), np.sin(q)
        R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
        return self.P @ (R if self.rho else np.eye(3))


def make_chain():
    rng = np.random.default_rng(1983)
    bodies = []
    for kind in KINDS:
        P = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        P *= np.sign(np.linalg.det(P))
        m, r = rng.uniform(0.5, 2.0, 6), rng.uniform(-0.4, 0.4, (6, 3))
        d = m @ r / m.sum()
        I = sum(mk * (rk @ rk * np.eye(3) - np.outer(rk, rk)) for mk, rk in zip(m, r - d, strict=True))  # noqa: E741
        e, j = rng.normal(size=3), rng.uniform(0.005, 0.02)
        turns = kind == "R"
        ratio = rng.uniform(-20, 20) * (1 if turns else 3)
        bodies.append(
            Body(
                P,
                rng.uniform(-0.5, 0.5, 3),
                m.sum(),
                d,
                I,
                int(turns),
                int(not turns),
                ratio,
                e / np.linalg.norm(e),
                j,
                0.7 * j,
            )
        )
    return bodies


CHAIN = make_chain()
Q, V, VDOT = np.random.default_rng(2).uniform(-1.2, 1.2, (3, N))


def rotor_tensor(b):
    """I_m = (j - i) e e' + i 1."""
    return (b.j - b.i) * np.outer(b.e, b.e) + b.i * np.eye(3)


def newton_euler(q, v, vdot):
    """Section II, in the axes of each body; body 0 does not move."""
    w = wd = np.zeros(3)
    a = np.zeros(3)  # of the origin
    k = np.array([0.0, 0.0, 1.0])
    forces, moments, rotors, S, arms, g = [], [], [], [], [], G
    for n, b in enumerate(CHAIN):
        s = b.S(q[n])
        k_before = b.P[:, 2]
        arm = b.l + b.tau * q[n] * k_before
        w_m = w + b.alpha * v[n] * b.e
        wd_m = wd + b.alpha * (vdot[n] * b.e + v[n] * np.cross(w, b.e))
        I_m = rotor_tensor(b)
        rotors.append(I_m @ wd_m + np.cross(w_m, I_m @ w_m))
        a = (
            a
            + np.cross(wd, arm)
            + np.cross(w, np.cross(w, arm))
            + b.tau * (vdot[n] * k_before + 2 * v[n] * np.cross(w, k_before))
        )
        wd = s.T @ (wd + b.rho * (vdot[n] * k_before + v[n] * np.cross(w, k_before)))
        w, a, g = s.T @ (w + b.rho * v[n] * k_before), s.T @ a, s.T @ g
        at_centre = a + np.cross(wd, b.d) + np.cross(w, np.cross(w, b.d))
        J = b.I - (rotor_tensor(CHAIN[n + 1]) if n + 1 < N else 0.0)  # the paper's J': without the rotor it carries
        forces.append(b.m * (at_centre - g))
        moments.append(J @ wd + np.cross(w, J @ w))
        S.append(s)
        arms.append(arm)
    f = c = np.zeros(3)
    tau = np.zeros(N)
    for n in reversed(range(N)):
        b = CHAIN[n]
        if n + 1 < N:
            f_next = S[n + 1] @ f
            c = S[n + 1] @ c + np.cross(arms[n + 1], f_next) + rotors[n + 1]
            f = f_next
        f, c = f + forces[n], c + np.cross(b.d, forces[n]) + moments[n]
        tau[n] = (b.tau * f + b.rho * c) @ k + b.alpha * rotors[n] @ b.e
    return tau


def mampey(q):
    """Section III.2, with the missing term alpha_n^2 j_n in a_nn."""
    A = np.zeros((N, N))
    mu = np.cumsum([b.m for b in CHAIN][::-1])[::-1]

    def following(k):
        return (CHAIN[k + 1].rho * mu[k + 1], CHAIN[k + 1].l) if k + 1 < N else (0.0, np.zeros(3))

    C, first = [], []
    for k, b in enumerate(CHAIN):
        weight, arm = following(k)
        C.append(b.I - b.m * skew(b.d) @ skew(b.d) - weight * skew(arm) @ skew(arm))
        first.append(-b.m * b.d - weight * arm)
    last = CHAIN[-1]
    A[N - 1, N - 1] = last.tau * mu[-1] + last.rho * C[-1][2, 2] + last.alpha**2 * last.j
    n1, Q_ = first[-1], C[-1]
    for k in range(N - 1, 0, -1):
        b, before = CHAIN[k], CHAIN[k - 1]
        S, axis = b.S(q[k]), b.P[:, 2]
        arm = b.l + b.tau * q[k] * axis
        n1 = S @ n1
        b1 = -b.tau * mu[k] * arm
        n2 = n1 + b.tau * b1
        Q_ = S @ Q_
        t = b.tau * mu[k] * axis + b.rho * np.cross(n1, axis)
        g = b.alpha * b.j * b.e - b.tau * np.cross(n2, axis) + b.rho * (Q_[:, 2] + np.cross(arm, t))
        A[k - 1, k] = before.tau * t[2] + before.rho * g[2]
        for i in range(k - 1, 0, -1):
            inner = CHAIN[i]
            t = inner.S(q[i]) @ t
            g = inner.S(q[i]) @ g + np.cross(inner.l + inner.tau * q[i] * inner.P[:, 2], t)
            A[i - 1, k] = CHAIN[i - 1].tau * t[2] + CHAIN[i - 1].rho * g[2]
        Q1 = skew(arm) @ skew(n1)
        Q_ = C[k - 1] + Q_ @ S.T + Q1 + Q1.T + b.tau * skew(arm) @ skew(b1)
        A[k - 1, k - 1] = before.alpha**2 * before.j + before.tau * mu[k - 1] + before.rho * Q_[2, 2]
        n1 = first[k - 1] + n2
    return A + np.triu(A, 1).T


def described():
    bodies, motors = {}, {}
    for n, (kind, b) in enumerate(zip(KINDS, CHAIN, strict=True), 1):
        pose = {"position": tuple(b.l), "matrix": tuple(map(tuple, b.P))}
        t = {"xx": b.I[0, 0], "xy": b.I[0, 1], "xz": b.I[0, 2], "yy": b.I[1, 1], "yz": b.I[1, 2], "zz": b.I[2, 2]}
        bodies[f"c{n}"] = {
            "parent": f"c{n - 1}" if n > 1 else "base",
            "place": {"pose": pose},
            "joint": {"kind": "revolute" if kind == "R" else "prismatic", "coordinate": f"q{n}"},
            "inertia": {"mass": b.m, "centre": tuple(b.d), "tensor": t},
        }
        motors[f"m{n}"] = Motor(coordinate=f"q{n}", axis=tuple(3 * b.e), ratio=b.alpha, inertia=b.j, inertia_across=b.i)
    return Mechanism.model_validate({"name": "llibre", "gravity": tuple(G), "bodies": bodies, "loads": motors})


ARM = described()


@pytest.mark.parametrize("base_parameters", [False, True])
def test_inverse_dynamics_is_section_two(base_parameters):
    ours = Evaluated(ARM, base_parameters=base_parameters)
    assert_same(ours("inverse_dynamics", Q, V, VDOT), newton_euler(Q, V, VDOT), tolerance=1e-12)


@pytest.mark.parametrize("base_parameters", [False, True])
def test_the_inertia_matrix_is_section_three(base_parameters):
    ours = Evaluated(ARM, base_parameters=base_parameters)
    assert_same(ours("mass_matrix", Q), mampey(Q), tolerance=1e-12)


def test_both_are_what_lagrange_says():
    tau = by_lagrange(ARM, State(Q, V, VDOT, 0.0, np.zeros(0)))
    assert_same(newton_euler(Q, V, VDOT), tau, tolerance=1e-12)
    assert_same(Evaluated(ARM, loads=False)("inverse_dynamics", Q, V, VDOT), tau, tolerance=1e-12)


def test_the_simulation_model_of_section_four():
    """vdot = A^-1 [q_a - Q_a(q, qdot, 0)]."""
    ours = Evaluated(ARM)
    tau = np.linspace(-5, 5, N)
    expected = np.linalg.solve(mampey(Q), tau - newton_euler(Q, V, np.zeros(N)))
    assert_same(ours("forward_dynamics", Q, V, tau), expected)


def test_the_printed_last_element_lacks_its_rotor():
    """III.2 prints a_nn without alpha_n^2 j_n: the error is exactly that."""
    last = CHAIN[-1]
    printed = mampey(Q)[-1, -1] - last.alpha**2 * last.j
    assert abs(Evaluated(ARM)("mass_matrix", Q)[-1, -1] - printed - last.alpha**2 * last.j) < 1e-12


def test_rotors_couple_joints_and_turn_their_carriers():
    """What a drive known only by its inertia at the joint does not do (Maakaroun's IA, ambiguity 15 of the errata)."""
    bench = Workbench(ARM)
    assert any(rotor.link >= 0 for rotor in bench.tree.rotors)
    assert mass_matrix(bench.tree)
    diagonal = np.diag([b.alpha**2 * b.j for b in CHAIN])
    bare = Evaluated(ARM.model_copy(update={"loads": {}}))
    added = Evaluated(ARM)("mass_matrix", Q) - bare("mass_matrix", Q)
    assert_same(np.diag(np.diag(added)), diagonal, tolerance=1e-12)
    assert np.abs(added - diagonal).max() > 0.01
    turning = Evaluated(ARM)("bias", Q, V) - bare("bias", Q, V)
    assert np.abs(turning).max() > 0.01


def test_friction_and_torque_of_the_motors_are_equation_three():
    """q_a = alpha c_m - xi_v qdot - q_s sign(qdot), with xi_v = alpha^2 xi_e + xi_s and q_s = alpha q_e + q_s."""
    motors = {
        name: load.model_copy(
            update={
                "torque": 0.3,
                "motor_damping": 0.02,
                "motor_friction": 0.05,
                "joint_damping": 0.4,
                "joint_friction": 0.7,
            }
        )
        for name, load in ARM.loads.items()
    }
    driven = ARM.model_copy(update={"loads": motors})
    alpha = np.array([b.alpha for b in CHAIN])
    acting = alpha * 0.3 - (alpha**2 * 0.02 + 0.4) * V - (np.abs(alpha) * 0.05 + 0.7) * np.sign(V)
    assert_same(Evaluated(ARM)("bias", Q, V) - Evaluated(driven)("bias", Q, V), acting)
