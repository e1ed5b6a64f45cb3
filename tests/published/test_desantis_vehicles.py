"""Vehicles after DeSantis 1996, section 8, symbol for symbol: tractor and semi-trailer, car, and their relatives."""

import json
from pathlib import Path

import pytest

from torseur import equations
from torseur.describe import Mechanism
from torseur.describe.constraints import Constraint
from torseur.dynamics.analytical.kane import kane
from torseur.dynamics.workbench import Options, Workbench
from torseur.emit.bridges import to_sympy
from torseur.formats import load
from torseur.graph import Function

sp = pytest.importorskip("sympy")

ROOT = Path(__file__).parent.parent.parent
BOOK = json.loads((ROOT / "tests" / "data" / "desantis" / "tractor_trailer.json").read_text())


class Derived:
    """The ten steps of a mechanism as sympy matrices."""

    def __init__(self, mechanism, *independent):
        self.bench = Workbench(mechanism, Options(base_parameters=False, independent=independent or None))
        self.kane = kane(self.bench)

    def __getattr__(self, name):
        return self.matrix(getattr(self.kane, name))

    def matrix(self, value):
        blocks = list(self.bench.system.graph.blocks.values())
        return to_sympy(Function("step", blocks, {"x": value}))["x"]


def symbol(name):
    return sp.Symbol(name, real=True)


LETTERS = ("l1", "l2", "b", "c", "d", "m1", "m2", "j1", "j2", "Theta", "Phi", "delta")


def book(text, **known):
    return sp.sympify(text, locals={n: symbol(n) for n in LETTERS} | known)


def column(name):
    return sp.Matrix([book(x) for x in BOOK[name]])


def vanishes(x):
    """Whether an expression is zero: a polynomial in sines and cosines, in which sin^2 = 1 - cos^2 decides it."""
    x = sp.expand_trig(x).replace(sp.tan, lambda a: sp.sin(a) / sp.cos(a))
    above = sp.expand(sp.fraction(sp.together(x))[0])
    for sine in above.atoms(sp.sin):
        s = sp.Dummy()
        above = sp.rem(above.subs(sine, s), s**2 + sp.cos(sine.args[0]) ** 2 - 1, s).subs(s, sine)
    return sp.expand(above) == 0


def assert_equal(ours, theirs):
    assert ours.shape == theirs.shape
    assert all(vanishes(x) for x in ours - theirs)
    assert theirs.free_symbols or theirs != sp.zeros(*theirs.shape)  # something is claimed


@pytest.fixture(scope="module")
def truck():
    return Derived(load(ROOT / "examples" / "tractor_trailer" / "tractor_trailer.yaml"))


PHIDOT, DELTADOT, ALPHA = symbol("dPhi"), symbol("ddelta"), symbol("vx")
MASSES = sp.diag(*(symbol(x) for x in BOOK["M"]))


def test_the_speed_of_the_rear_axle_is_chosen(truck):
    assert truck.kane.alpha_names == ("vx",)


def test_configurations_are_those_of_equation_2(truck):
    """But for the reference points: ours are the centres of mass, b ahead of the axle and d ahead of the other."""
    x, y, c, l2, d, b = (symbol(n) for n in ("x", "y", "c", "l2", "d", "b"))
    theta, phi = symbol("Theta"), symbol("Phi")
    tractor, trailer = (truck.matrix(list(body.chi.values())) for body in truck.kane.bodies)
    ahead = sp.Matrix([sp.cos(theta), sp.sin(theta), 0])
    along = sp.Matrix([sp.cos(theta + phi), sp.sin(theta + phi), 0])
    assert_equal(tractor, sp.Matrix([x, y, theta]) + b * ahead)
    assert_equal(trailer, sp.Matrix([x, y, theta + phi]) - c * ahead - l2 * along + d * along)


def test_jacobians_are_those_of_equations_11_and_12(truck):
    theta, phi, b, c, e = symbol("Theta"), symbol("Phi"), symbol("b"), symbol("c"), symbol("l2") - symbol("d")
    both = theta + phi
    first = [[sp.cos(theta), sp.sin(theta), 0, 0], [-sp.sin(theta), sp.cos(theta), b, 0], [0, 0, 1, 0]]
    second = [
        [sp.cos(both), sp.sin(both), -c * sp.sin(phi), 0],
        [-sp.sin(both), sp.cos(both), -e - c * sp.cos(phi), -e],
        [0, 0, 1, 1],
    ]
    assert truck.kane.by_rates
    assert_equal(truck.J_h[:, :4], sp.Matrix(first + second))
    assert truck.J_h[:, 4] == sp.zeros(6, 1)  # the steered wheel has no mass


def test_admissible_velocities_are_those_of_equation_18(truck):
    assert_equal(truck.J_nh[:4, :], column("Jnh"))
    assert sp.simplify(truck.H * truck.J_nh) == sp.zeros(4, 1)
    assert list(truck.s) == [0, 0, 0, 0, DELTADOT]


def test_J_and_its_rate_are_those_of_equations_21_to_25(truck):
    assert_equal(truck.J, column("J"))
    assert_equal(truck.J_dot, column("A") * PHIDOT + column("B") * DELTADOT)


def test_masses_forces_and_moments_are_those_of_equations_26_to_30(truck):
    assert sp.diag(*(truck.matrix(body.M) for body in truck.kane.bodies)) == MASSES
    forces = {n: symbol(n) for n in ("Fu1", "Fu2", "Fu3")}
    for body, name in zip(truck.kane.bodies, ("omega_a1", "omega_a2"), strict=True):
        assert_equal(truck.matrix(body.omega), sp.Matrix([book(x, **forces) for x in BOOK[name]]))
    turns = [truck.matrix(body.W) for body in truck.kane.bodies]
    for W, turn in zip(turns, (symbol("wz"), symbol("wz") + PHIDOT), strict=True):
        assert_equal(W, turn * sp.Matrix([[0, -1, 0], [1, 0, 0], [0, 0, 0]]))


def test_D_C_and_tau_are_the_corrected_ones(truck):
    forces = {n: symbol(n) for n in ("Fu1", "Fu2", "Fu3")}
    assert_equal(truck.D, sp.Matrix([book(BOOK["D"])]))
    assert_equal(truck.C, column("J").T * MASSES * (column("A") * PHIDOT + column("B") * DELTADOT))
    assert_equal(truck.tau, sp.Matrix([book(BOOK["tau"], **forces)]))


def test_C_is_half_the_rate_of_D(truck):
    D = truck.D[0]
    rate = D.diff(symbol("Phi")) * PHIDOT + D.diff(symbol("delta")) * DELTADOT
    assert_equal(truck.C, sp.Matrix([rate / 2]))


def test_printed_B_would_give_another_C(truck):
    printed = column("B")
    printed[1], printed[2] = -printed[1], -printed[2]
    difference = truck.C - column("J").T * MASSES * (column("A") * PHIDOT + printed * DELTADOT)
    assert not vanishes(difference[0])


def test_state_form_divides_by_D(truck):
    assert_equal(truck.g_w * truck.D, sp.eye(1))
    assert_equal(truck.D * truck.g_0, -truck.C * ALPHA)


def test_a_quasi_speed_of_ones_own_gives_the_same_model(truck):
    """alpha as the speed along the heading, from speeds that are rates in the world, as in equation (8.7)."""
    mechanism = load(ROOT / "examples" / "car" / "car.yaml")
    plain, own = Derived(mechanism), Derived(mechanism, "alpha = vx*cos(delta) + l1*wz*sin(delta)")
    assert own.kane.alpha_names == ("alpha",)
    # alpha is the speed of the front wheel: vx = alpha cos(delta)
    assert_equal(own.D, plain.D * sp.cos(symbol("delta")) ** 2)
    assert_equal(own.tau, plain.tau * sp.cos(symbol("delta")))


# -- remark 8.2 --------------------------------------------------------------------------------------------------------
def test_the_car_is_the_tractor_without_its_trailer():
    car = Derived(load(ROOT / "examples" / "car" / "car.yaml"))
    J, M = column("J")[:3, :], MASSES[:3, :3]
    assert_equal(car.J, J)
    assert_equal(car.D, J.T * M * J)
    assert_equal(car.C, J.T * M * (column("A")[:3, :] * PHIDOT + column("B")[:3, :] * DELTADOT))
    assert_equal(car.tau, sp.Matrix([symbol("Fu1") / sp.cos(symbol("delta")) + symbol("Fu2")]))


# -- relatives ---------------------------------------------------------------------------------------------------------
TWO_TRAILERS = {
    "name": "two_trailers",
    "parameters": {n: {} for n in ["l1", "b", "c1", "c2", "l2", "l3", "d2", "d3", "m1", "m2", "m3", "j1", "j2", "j3"]},
    "base": {
        "kind": "planar",
        "coordinates": {"x": {}, "y": {}, "Theta": {}},
        "inertia": {"mass": "m1", "centre": ("b", 0.0, 0.0), "tensor": {"zz": "j1"}},
        "frames": {"rear_axle": {}},
    },
    "bodies": {
        "first": {
            "place": {"pose": {"position": ("-c1", 0.0, 0.0)}},
            "joint": {"kind": "revolute", "coordinate": "Phi1"},
            "inertia": {"mass": "m2", "centre": ("d2 - l2", 0.0, 0.0), "tensor": {"zz": "j2"}},
            "frames": {"first_axle": {"place": {"pose": {"position": ("-l2", 0.0, 0.0)}}}},
        },
        "second": {
            "parent": "first",
            "place": {"pose": {"position": ("-l2 - c2", 0.0, 0.0)}},
            "joint": {"kind": "revolute", "coordinate": "Phi2"},
            "inertia": {"mass": "m3", "centre": ("d3 - l3", 0.0, 0.0), "tensor": {"zz": "j3"}},
            "frames": {"second_axle": {"place": {"pose": {"position": ("-l3", 0.0, 0.0)}}}},
        },
        "front_wheel": {
            "place": {"pose": {"position": ("l1", 0.0, 0.0)}},
            "joint": {"kind": "revolute", "coordinate": "delta"},
        },
    },
    "inputs": {"steering": {}},
    "constraints": {
        "rear": {"no_side_slip": {"frame": "rear_axle"}},
        "front": {"no_side_slip": {"frame": "front_wheel"}},
        "axle1": {"no_side_slip": {"frame": "first_axle"}},
        "axle2": {"no_side_slip": {"frame": "second_axle"}},
        "steered": {"prescribed": {"coordinate": "delta", "equals": "steering"}},
    },
}


def rolled(speed, turn, hitch, angle, length):
    """Speed and turn of a trailer's axle: a hitch behind an axle that has them, an angle, the way to the next axle."""
    across = -hitch * turn
    ahead = speed * sp.cos(angle) + across * sp.sin(angle)
    return ahead, (-speed * sp.sin(angle) + across * sp.cos(angle)) / length


@pytest.mark.slow
def test_two_trailers_roll_one_behind_the_other():
    """Against velocities written down from axle to axle, with alpha = 1."""
    vehicle = Derived(Mechanism.model_validate(TWO_TRAILERS))
    p = {n: symbol(n) for n in [*TWO_TRAILERS["parameters"], "Phi1", "Phi2", "delta"]}
    one = sp.Integer(1), sp.tan(p["delta"]) / p["l1"]
    two = rolled(*one, p["c1"], p["Phi1"], p["l2"])
    three = rolled(*two, p["c2"], p["Phi2"], p["l3"])
    D, J = 0, []
    for k, (ahead, turn) in enumerate((one, two, three), 1):
        arm, m, j = "b" if k == 1 else f"d{k}", f"m{k}", f"j{k}"
        J += [ahead, p[arm] * turn, turn]
        D += p[m] * (ahead**2 + (p[arm] * turn) ** 2) + p[j] * turn**2
    assert_equal(vehicle.J, sp.Matrix(J))
    motion = {symbol("Phi1"): symbol("dPhi1"), symbol("Phi2"): symbol("dPhi2"), symbol("delta"): symbol("ddelta")}
    rate = sum(D.diff(x) * v for x, v in motion.items()) / 2
    symbols = sorted(rate.free_symbols | {symbol("wz")}, key=str)
    numbers = {x: sp.Rational(3 + 2 * k, 7 + k) for k, x in enumerate(symbols)}
    for ours, theirs in ((vehicle.D[0], D), (vehicle.C[0], rate)):  # at one point: quicker than to multiply out
        assert abs((ours - theirs).subs(numbers).evalf(30)) < 1e-20
        assert abs(theirs.subs(numbers).evalf(30)) > 1e-3


ROBOT = {
    "name": "differential_drive",
    "parameters": {n: {} for n in ["r", "b", "d", "m", "j", "jw"]},
    "base": {
        "kind": "planar",
        "coordinates": {"x": {}, "y": {}, "theta": {}},
        "inertia": {"mass": "m", "centre": ("d", 0.0, 0.0), "tensor": {"zz": "j"}},
        "frames": {"axle": {}},
    },
    "bodies": {
        side: {
            "place": {"pose": {"position": (0.0, y, "r"), "rpy": ("-pi/2", 0.0, 0.0)}},
            "joint": {"kind": "revolute", "coordinate": f"phi_{side}"},
            "inertia": {"ZZ": "jw"},
        }
        for side, y in (("right", "-b"), ("left", "b"))
    },
    "inputs": {"T_right": {}, "T_left": {}},
    "constraints": {
        "axle": {"no_side_slip": {"frame": "axle"}},
        "right": {"speeds": {"coefficients": {"vx": 1.0, "wz": "b", "dphi_right": "-r"}}},
        "left": {"speeds": {"coefficients": {"vx": 1.0, "wz": "-b", "dphi_left": "-r"}}},
    },
}


def differential_drive():
    from torseur.describe.loads import KINDS

    efforts = {
        f"drive_{side}": KINDS["effort"](coordinate=f"phi_{side}", value=f"T_{side}") for side in ("right", "left")
    }
    return Mechanism.model_validate(ROBOT).model_copy(update={"loads": efforts})


def test_differential_drive_by_forward_speed_and_turn():
    robot = Derived(differential_drive(), "vx", "wz")
    r, b, d, m, j, jw = (symbol(n) for n in ["r", "b", "d", "m", "j", "jw"])
    w, right, left = symbol("wz"), symbol("T_right"), symbol("T_left")
    assert_equal(robot.D, sp.diag(m + 2 * jw / r**2, m * d**2 + j + 2 * jw * b**2 / r**2))
    assert_equal(robot.C, m * d * w * sp.Matrix([[0, -1], [1, 0]]))
    assert_equal(robot.tau, sp.Matrix([(right + left) / r, b * (right - left) / r]))


def test_differential_drive_by_its_wheels():
    """The actuated speeds are chosen; D, C and tau go over into those of the wheels by v = T w."""
    robot, plain = Derived(differential_drive()), Derived(differential_drive(), "vx", "wz")
    assert robot.kane.alpha_names == ("dphi_right", "dphi_left")
    r, b = symbol("r"), symbol("b")
    T = sp.Matrix([[r / 2, r / 2], [r / (2 * b), -r / (2 * b)]])
    assert_equal(robot.D, T.T * plain.D * T)
    assert_equal(robot.C, T.T * plain.C * T)
    assert_equal(robot.tau, sp.Matrix([symbol("T_right"), symbol("T_left")]))


def test_the_rate_of_the_wheel_as_a_row_of_speeds_has_the_equations_of_the_prescribed_wheel():
    """(8.45): an input is held in the equations of a model, so the speed that it gives stays a symbol in both."""
    prescribed = load(ROOT / "examples" / "tractor_trailer" / "tractor_trailer.yaml")
    row = {"speeds": {"coefficients": {"ddelta": 1.0}, "equals": "steering"}}
    constraints = {**prescribed.constraints, "steered": Constraint.model_validate(row)}
    by_rate = prescribed.model_copy(update={"constraints": constraints})
    one, other = (equations(model, "kane").text() for model in (prescribed, by_rate))
    assert "ddelta" in one
    assert one == other
