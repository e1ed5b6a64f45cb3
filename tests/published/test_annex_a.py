"""Base parameters in print: annex A of Maakaroun 2011 with its errata, and the RX-90."""

from pathlib import Path

import numpy as np
import pytest

from torseur.describe import Mechanism
from torseur.dynamics.parameters.base_parameters import base_parameters
from torseur.dynamics.parameters.groupings import groupings
from torseur.dynamics.parameters.regressor import TEN
from torseur.dynamics.tree.system import System
from torseur.dynamics.tree.tree import Tree
from torseur.formats import load
from torseur.graph import Function, evaluate

SYMORO = Path(__file__).parent.parent / "data" / "symoro"
ROW = ("gamma", "b", "alpha", "d", "theta", "r")


def base_of(mechanism):
    return base_parameters(Tree(System(mechanism)))


def regrouped_on_the_parent(kind, row):
    """What (10 parameters of the child) become on a parent that moves at will: (10, 10), zero where they stay."""
    body = {"place": {"mdh": row}, "joint": kind, "inertia": {"M": 1.0}}
    fields = {"name": "pair", "base": {"kind": "floating", "inertia": {"M": 1.0}}, "bodies": {"child1": body}}
    base = base_of(Mechanism.model_validate(fields))
    assert base.kept[:10] == tuple(range(10))
    found = np.zeros((10, 10))
    for i in range(10):
        for k, factor in base.groups[i].items():
            if k >= 10:
                found[i, k - 10] = evaluate(Function("factor", [], {"x": factor}))[0]
    return found


def annex_a4(alpha, d, r):
    """(A.4): YY, MZ, M of a revolute joint's body on its antecedent, gamma = b = 0."""
    S, C = np.sin(alpha), np.cos(alpha)
    lines = {
        "XX": (1, 2 * r, r**2),
        "XY": (0, d * S, d * r * S),
        "XZ": (0, -d * C, -d * r * C),
        "YY": (C * C, 2 * r * C * C, d**2 + r**2 * C * C),
        "YZ": (C * S, 2 * r * C * S, r**2 * C * S),
        "ZZ": (S * S, 2 * r * S * S, d**2 + r**2 * S * S),
        "MX": (0, 0, d),
        "MY": (0, -S, -r * S),
        "MZ": (0, C, r * C),
        "M": (0, 0, 1),
    }
    found = np.zeros((10, 10))
    for i, name in enumerate(TEN):
        for column, value in zip(("YY", "MZ", "M"), lines[name], strict=True):
            found[i, TEN.index(column)] = value
    return found


def annex_a5(alpha, theta):
    """(A.5), whose third line must begin with XZ: the tensor of a prismatic joint's body on its antecedent."""
    S, C, s, c = np.sin(alpha), np.cos(alpha), np.sin(theta), np.cos(theta)
    lines = {
        "XX": (c * c, -2 * c * s, 0, s * s, 0, 0),
        "XY": (c * s * C, (c * c - s * s) * C, -c * S, -c * s * C, s * S, 0),
        "XZ": (c * s * S, (c * c - s * s) * S, c * C, -c * s * S, -s * C, 0),
        "YY": (s * s * C * C, 2 * c * s * C * C, -2 * s * C * S, c * c * C * C, -2 * c * C * S, S * S),
        "YZ": (s * s * C * S, 2 * c * s * C * S, s * (C * C - S * S), c * c * C * S, c * (C * C - S * S), -C * S),
        "ZZ": (s * s * S * S, 2 * c * s * S * S, 2 * s * C * S, c * c * S * S, 2 * c * C * S, C * C),
    }
    found = np.zeros((10, 10))
    for i, name in enumerate(TEN[:6]):
        found[i, :6] = lines[name]
    return found


def antecedent_turned(gamma, b):
    """Ten parameters behind Rz(gamma) Tz(b), seen from before it, by NumPy: what annex A leaves out."""
    c, s = np.cos(gamma), np.sin(gamma)
    R, P = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.array([0, 0, b])

    def hat(x):
        return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])

    found = np.zeros((10, 10))
    for k in range(10):
        XX, XY, XZ, YY, YZ, ZZ, *MS, M = np.eye(10)[k]
        J = R @ np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]]) @ R.T
        MS = R @ MS
        J = J - hat(P) @ hat(MS) - hat(MS) @ hat(P) - M * hat(P) @ hat(P)
        MS = MS + M * P
        found[:, k] = [J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2], *MS, M]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_revolute_joint_regroups_as_a4_says(seed):
    row = dict(zip(ROW, np.random.default_rng(seed).uniform(-1.5, 1.5, 6).tolist(), strict=True)) | {"gamma": 0, "b": 0}
    found = regrouped_on_the_parent("revolute", row)
    np.testing.assert_allclose(found, annex_a4(row["alpha"], row["d"], row["r"]), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_prismatic_joint_regroups_as_a5_says(seed):
    row = dict(zip(ROW, np.random.default_rng(seed).uniform(-1.5, 1.5, 6).tolist(), strict=True)) | {"gamma": 0, "b": 0}
    found = regrouped_on_the_parent("prismatic", row)
    np.testing.assert_allclose(found, annex_a5(row["alpha"], row["theta"]), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_gamma_and_b_turn_and_move_what_annex_a_gives(seed):
    row = dict(zip(ROW, np.random.default_rng(seed).uniform(-1.5, 1.5, 6).tolist(), strict=True))
    first = antecedent_turned(row["gamma"], row["b"])
    expected = first @ annex_a4(row["alpha"], row["d"], row["r"])
    np.testing.assert_allclose(regrouped_on_the_parent("revolute", row), expected, atol=1e-12)
    expected = first @ annex_a5(row["alpha"], row["theta"])
    np.testing.assert_allclose(regrouped_on_the_parent("prismatic", row), expected, atol=1e-12)


def test_what_is_left_on_a_revolute_body_is_xx_less_yy():
    body = {"joint": "revolute", "inertia": {"M": 1.0}}
    fields = {"name": "pair", "base": {"kind": "floating", "inertia": {"M": 1.0}}, "bodies": {"child1": body}}
    base = base_of(Mechanism.model_validate(fields))
    assert [base.standard[k].symbol for k in base.kept[10:]] == ["XX", "XY", "XZ", "YZ", "ZZ", "MX", "MY"]
    names = {base.standard[k].name: float(factor) for k, factor in base.groups[10].items()}
    assert names == {"XX1": 1.0, "YY1": -1.0}


# -- the RX-90, for which Khalil & Dombre 2002 count forty base inertial parameters ------------------------------------
RX90 = """\
52 base parameters of 78 standard parameters

ZZR1 = ZZ1 + YY2 + YY3 + IA1 + D3**2*(M3 + M4 + M5 + M6)
XXR2 = XX2 - YY2 - D3**2*(M3 + M4 + M5 + M6)
XZR2 = XZ2 - D3*MZ3
ZZR2 = ZZ2 + IA2 + D3**2*(M3 + M4 + M5 + M6)
MXR2 = MX2 + D3*(M3 + M4 + M5 + M6)
XXR3 = XX3 + YY4 - YY3 + 2*RL4*MZ4 + RL4**2*(M4 + M5 + M6)
ZZR3 = ZZ3 + YY4 + 2*RL4*MZ4 + RL4**2*(M4 + M5 + M6)
MYR3 = MY3 + MZ4 + RL4*(M4 + M5 + M6)
XXR4 = XX4 + YY5 - YY4
ZZR4 = ZZ4 + YY5
MYR4 = MY4 - MZ5
XXR5 = XX5 + YY6 - YY5
ZZR5 = ZZ5 + YY6
MYR5 = MY5 + MZ6
XXR6 = XX6 - YY6

as they are: XY2, YZ2, MY2, XY3, XZ3, YZ3, MX3, XY4, XZ4, YZ4, MX4, XY5, XZ5, YZ5, MX5, XY6, XZ6, YZ6, ZZ6, MX6, \
MY6, IA3, IA4, IA5, IA6, FV1, FV2, FV3, FV4, FV5, FV6, FS1, FS2, FS3, FS4, FS5, FS6
without effect: XX1, XY1, XZ1, YY1, YZ1, MX1, MY1, MZ1, M1, MZ2, M2
"""


def test_the_rx90_has_forty_base_inertial_parameters_grouped_as_in_print():
    base = base_of(load(SYMORO / "RX90.par"))
    assert sum(not name.startswith(("FV", "FS")) for name in base.names) == 40
    assert groupings(base) == RX90


@pytest.mark.parametrize("name", ["RX90", "Stanford", "SR400"])
def test_what_is_printed_has_the_value_of_what_is_computed(name):
    """K_B at numbers against the printed combinations, read as formulas."""
    system = System(load(SYMORO / f"{name}.par").model_copy(update={"loops": {}}))
    rng = np.random.default_rng(1)
    values = dict(zip(system.p.names, rng.uniform(1, 2, len(system.p)).tolist(), strict=True))
    base = base_parameters(Tree(system))
    found = evaluate(Function("K", [system.p], {"K": base.values}), list(values.values()))[0]
    printed = dict(line.split(" = ") for line in groupings(base).splitlines() if " = " in line)
    for label, value in zip(base.names, found, strict=True):
        assert eval(printed.get(label, label), {}, values) == pytest.approx(value, rel=1e-12)


def test_factors_that_cancel_are_not_printed():
    text = groupings(base_of(load(SYMORO / "SR400.par").model_copy(update={"loops": {}})))
    assert "XXR3 = XX3 + YY4 - YY3 + 2*r4*MZ4 + (-d4**2 + r4**2)*(M4 + M5 + M6)" in text
    assert "XXR2 = XX2 - YY2 - d3**2*(M3 + M4 + M5 + M6)" in text
