"""Operations counted against OpenSYMORO (its own output, dead statements removed) and against Llibre's formulas.

Counted is what one evaluation takes once everything that needs parameters only has been done; that share is printed
beside it (``pytest -s``).
"""

from pathlib import Path

import pytest

from torseur.describe import Mechanism, SpringDamper, Transmission, Wrench
from torseur.formats import load
from torseur.graph import Stage
from torseur.model import equations

DATA = Path(__file__).resolve().parent.parent / "data" / "symoro"

OPENSYMORO = [
    # robot, quantity, base parameters, with friction, products, sums
    ("RX90", "inverse_dynamics", False, False, 337, 288),
    ("RX90", "inverse_dynamics", True, False, 291, 230),
    ("RX90", "mass_matrix", False, False, 206, 157),
    ("RX90", "mass_matrix", True, False, 195, 137),
    ("RX90", "forward_dynamics", False, True, 897, 690),
    ("Stanford", "inverse_dynamics", True, False, 266, 215),
    ("SR400", "inverse_dynamics", True, False, 417, 328),
]


def robot(name, *, friction):
    """A robot of SYMORO's library; the numbers of the table are without drives' inertias and forces at the tip."""
    mechanism = load(DATA / f"{name}.par")
    kinds = (SpringDamper, Transmission, Wrench) if friction else ()
    loads = {key: x for key, x in mechanism.loads.items() if isinstance(x, kinds)} if kinds else {}
    return mechanism.model_copy(update={"loads": loads})


@pytest.mark.parametrize(("name", "quantity", "base", "friction", "products", "sums"), OPENSYMORO)
def test_no_more_operations_than_opensymoro(name, quantity, base, friction, products, sums):
    found = equations(robot(name, friction=friction), quantity, base_parameters=base)
    every_time, once = found.counts[Stage.STATE], found.counts[Stage.PARAMETER]
    kind = "base" if base else "general"
    print(
        f"{name} {quantity} ({kind}{', friction' if friction else ''}): {every_time.products}/{every_time.sums}, "
        f"once {once.products}/{once.sums}; OpenSYMORO {products}/{sums}"
    )
    assert every_time.products <= products
    assert every_time.sums <= sums
    assert found.counts[Stage.TIME].total == 0
    assert every_time.divisions <= (6 if quantity == "forward_dynamics" else 0)
    assert every_time.pairs <= len(load(DATA / f"{name}.par").q)


def test_general_inertias_take_fewer_operations_even_if_nothing_is_done_beforehand():
    found = equations(robot("RX90", friction=False), "inverse_dynamics").total
    assert found.products <= 337
    assert found.sums <= 288


def general_arm(n):
    """Revolute joints in any position, every inertia general: nothing to customise but n."""
    bodies = {}
    for k in range(1, n + 1):
        pose = {"position": tuple(f"{x}{k}" for x in "xyz"), "rpy": tuple(f"{x}{k}" for x in ("roll", "pitch", "yaw"))}
        names = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
        bodies[f"b{k}"] = {
            "parent": f"b{k - 1}" if k > 1 else "base",
            "place": {"pose": pose},
            "joint": {"kind": "revolute", "coordinate": f"q{k}"},
            "inertia": {name: f"{name}{k}" for name in names},
        }
    symbols = [f"{x}{k}" for k in range(1, n + 1) for x in ("x", "y", "z", "roll", "pitch", "yaw", *names)]
    parameters = {name: {} for name in [*symbols, "g"]}
    return Mechanism.model_validate(
        {"name": "general", "parameters": parameters, "bodies": bodies, "gravity": (0.0, 0.0, "-g")}
    )


def test_the_general_six_axes_arm_against_the_formulas_of_llibre():
    """Section IV.1 with n = 6, each with its rotations; the last step, Cholesky's, as recounted in the errata."""
    n = 6
    rotations, newton_euler = (12 * n, 6 * n), (149 * n - 89, 130 * n - 76)
    mampey, cholesky = (12 * n**2 + 26 * n - 47, 9 * n**2 + 35 * n - 67), (65, 65)
    theirs = {
        "inverse_dynamics": (rotations, newton_euler),
        "mass_matrix": (rotations, mampey),
        "forward_dynamics": (rotations, newton_euler, mampey, cholesky),
    }
    for quantity, parts in theirs.items():
        products, sums = map(sum, zip(*parts, strict=True))
        found = equations(general_arm(n), quantity).count
        print(f"general 6R {quantity}: {found.products}/{found.sums}; Llibre {products}/{sums}")
        if quantity != "mass_matrix":  # there Mampey's way, in the axes of the body before, is shorter
            assert found.products <= products
            assert found.sums <= sums
