"""The vehicles of the examples are those of their documents, corrected, and rest where they start."""

import numpy as np
import pytest

from support.evaluated import assert_same
from support.example_files import Example, par_twin, without_tyres
from torseur.describe.fields import FrozenDict

G = 9.81


def random_states(example: Example, count: int = 3, seed: int = 0) -> list[tuple[np.ndarray, ...]]:
    """q, v, vdot near the start."""
    rng = np.random.default_rng(seed)
    n = len(example.mechanism.v)
    return [
        (example.start + rng.uniform(-0.3, 0.3, len(example.start)), *rng.uniform(-1, 1, (2, n))) for _ in range(count)
    ]


def multipliers_at_rest(example: Example) -> np.ndarray:
    """What the constraints do at rest; that they can hold the mechanism is asserted."""
    q = example.start
    needed = example("inverse_dynamics", q, example.rest, example.rest)
    G_ = example.rows(q)
    found, *_ = np.linalg.lstsq(G_.T, needed, rcond=1e-11)
    assert np.max(np.abs(G_.T @ found - needed)) < 1e-7 * example.mass() * G
    return found


def road_loads(example: Example) -> dict[str, float]:
    """Constraint -> normal load at rest, upwards."""
    names = list(example.mechanism.constraints)
    found = multipliers_at_rest(example)[-len(names) :]
    of = dict(zip(names, found, strict=True))
    wheels = [name for name, c in example.mechanism.constraints.items() if c.rolling is not None]
    return {name: load for name, load in of.items() if name.endswith("on_the_road") or name in wheels}


def assert_same_dynamics(one: Example, other: Example) -> None:
    """Without loads: inertia, Coriolis and gravity."""
    for state in random_states(one):
        assert_same(one("inverse_dynamics", *state), other("inverse_dynamics", *state))


# -- DeSantis, section 8 -----------------------------------------------------------------------------------------------
def truck_speeds(p: dict[str, float], phi: float, delta: float, ddelta: float) -> np.ndarray:
    """vx, vy, wz, dPhi, ddelta of the base at alpha = 1: (8.14) to (8.16), corrected."""
    tan = np.tan(delta)
    dphi = -(p["l1"] * np.sin(phi) + (p["l2"] + p["c"] * np.cos(phi)) * tan) / (p["l1"] * p["l2"])
    return np.array([1.0, 0.0, tan / p["l1"], dphi, ddelta])


@pytest.mark.parametrize(("phi", "delta"), [(0.0, 0.0), (0.3, 0.2), (-0.8, 0.4), (1.1, -0.5)])
def test_the_speeds_of_section_8_satisfy_the_three_axles(phi, delta):
    truck = Example("tractor_trailer")
    v = truck_speeds(truck.numbers, phi, delta, 0.7)
    rows = truck.rows([3.0, -2.0, 0.6, phi, delta])
    assert rows.shape == (4, 5)
    assert_same(rows[:3] @ v, np.zeros(3))
    assert rows[3] @ v == pytest.approx(0.7)


@pytest.mark.parametrize(("phi", "delta"), [(0.3, 0.2), (-0.8, 0.4)])
def test_the_energy_of_the_truck_gives_the_corrected_d(phi, delta):
    """2 T = D alpha^2 with D of section 8; delta has no inertia."""
    truck = Example("tractor_trailer")
    l1, l2, b, c, d, m1, j1, m2, j2 = (truck.numbers[k] for k in ("l1", "l2", "b", "c", "d", "m1", "j1", "m2", "j2"))
    tan, sp, cp = np.tan(delta), np.sin(phi), np.cos(phi)
    D = m1 * (1 + (b * tan / l1) ** 2) + j1 * (tan / l1) ** 2 + m2 * (cp - c * sp * tan / l1) ** 2
    D += (m2 * d**2 + j2) * ((l1 * sp + c * cp * tan) / (l1 * l2)) ** 2
    v = truck_speeds(truck.numbers, phi, delta, 0.4)
    assert 2 * truck("kinetic_energy", [1, 2, 0.5, phi, delta], v) == pytest.approx(D, rel=1e-12)


@pytest.mark.parametrize(("phi", "delta"), [(0.3, 0.2), (-0.8, 0.4)])
def test_the_power_of_the_wheels_gives_the_corrected_tau(phi, delta):
    """tau = Fu1/cos(delta) + Fu2 + Fu3 (cos Phi - c sin Phi tan(delta)/l1)."""
    truck = Example("tractor_trailer")
    v, q = truck_speeds(truck.numbers, phi, delta, 0.0), [1, 2, 0.5, phi, delta]
    forces = {"Fu1": 30.0, "Fu2": -70.0, "Fu3": 11.0}
    u = [forces.get(name, 0.0) for name in truck.mechanism.inputs]
    Q = truck("inverse_dynamics", q, truck.rest, truck.rest) - truck("inverse_dynamics", q, truck.rest, truck.rest, u=u)
    l1, c = truck.numbers["l1"], truck.numbers["c"]
    tau = 30 / np.cos(delta) - 70 + 11 * (np.cos(phi) - c * np.sin(phi) * np.tan(delta) / l1)
    assert Q @ v == pytest.approx(tau, rel=1e-12)


def test_the_truck_is_laid_out_as_8_2_says():
    truck = Example("tractor_trailer")
    p, (x, y, theta, phi) = truck.numbers, (2.0, -1.0, 0.7, -0.4)
    q = [x, y, theta, phi, 0.2]
    assert_same(truck.place("rear_axle", q), [x, y, 0])
    there = [x, y] - p["c"] * np.array([np.cos(theta), np.sin(theta)])
    there -= p["l2"] * np.array([np.cos(theta + phi), np.sin(theta + phi)])
    assert_same(truck.place("trailer_axle", q)[:2], there)
    assert_same(np.linalg.norm(truck.place("front_wheel", q) - truck.place("rear_axle", q)), p["l1"])


def test_the_car_is_the_truck_without_its_trailer():
    """Remark 8.2: the same rows, and D without the trailer's terms."""
    car = Example("car")
    p, delta = car.numbers, 0.3
    v = np.array([1.0, 0.0, np.tan(delta) / p["l1"], 0.0])
    q = [1.0, 2.0, 0.4, delta]
    assert_same(car.rows(q)[:2] @ v, [0, 0])
    D = p["m1"] * (1 + (p["b"] * np.tan(delta) / p["l1"]) ** 2) + p["j1"] * (np.tan(delta) / p["l1"]) ** 2
    assert 2 * car("kinetic_energy", q, v) == pytest.approx(D, rel=1e-12)
    truck = Example("tractor_trailer").mechanism
    assert set(truck.constraints) - set(car.mechanism.constraints) == {"trailer_wheels"}


# -- single track ------------------------------------------------------------------------------------------------------
def test_the_single_track_model_is_the_par_file():
    bicycle = Example("bicycle_3dof", loads=False)
    twin = Example(par_twin(bicycle, "par/bicilacet_3ddl", {1: "base"}, bicycle.numbers), loads=False)
    assert_same_dynamics(bicycle, twin)


def test_a_force_on_the_steered_wheel_turns_to_the_left_with_the_lever_of_the_front_axle():
    """(2.59), corrected: the yaw moment is Lf (Fy cos + Fx sin)."""
    bicycle = Example("bicycle_3dof")
    delta = 0.2
    q = np.array([0, 0, 0.5, delta])
    u = [{"Fx_front": 40.0, "Fy_front": 90.0}.get(name, 0.0) for name in bicycle.mechanism.inputs]
    Q = -bicycle("inverse_dynamics", q, bicycle.rest, bicycle.rest, u=u)
    Fx, Fy = 40 * np.cos(delta) - 90 * np.sin(delta), 90 * np.cos(delta) + 40 * np.sin(delta)
    assert_same(Q[:3], [Fx, Fy, bicycle.numbers["Lf"] * Fy])


# -- eleven degrees of freedom -----------------------------------------------------------------------------------------
ELEVEN = {1: "base", 2: "front_suspension", 5: "front_wheel", 7: "rear_suspension", 9: "rear_wheel"}


def test_the_11_dof_model_is_the_par_file():
    vehicle = Example("vehicle_11dof", loads=False)
    twin = Example(par_twin(vehicle, "par/modele11ddl", ELEVEN, vehicle.numbers), loads=False)
    assert_same_dynamics(vehicle, twin)
    q = random_states(vehicle)[0][0]
    for one, other in (("front_contact", "frame6"), ("rear_contact", "frame10")):
        assert_same(vehicle.pose(one, q), twin.pose(other, q))


def test_wrench_and_torque_on_the_hub_are_the_tyre_force_on_the_wheel():
    """The .par file's wrench lacks only the torque - Ra Fx about the axle."""
    vehicle = Example("vehicle_11dof")
    twin = Example(par_twin(vehicle, "par/modele11ddl", ELEVEN, vehicle.numbers))
    q = random_states(vehicle)[0][0]
    pairs = {"Fx_front": "FX6", "Fy_front": "FY6", "Mz_front": "CZ6", "Fx_rear": "FX10", "Fy_rear": "FY10"}
    ours, theirs = (list(example.mechanism.inputs) for example in (vehicle, twin))
    for k, (one, other) in enumerate(pairs.items()):
        force = 100.0 + k
        a, b = (
            example("inverse_dynamics", q, example.rest, example.rest, u=[force * (x == name) for x in names])
            - example("inverse_dynamics", q, example.rest, example.rest)
            for example, name, names in ((vehicle, one, ours), (twin, other, theirs))
        )
        missing = np.zeros(11)
        if one.startswith("Fx"):
            spin = "dq5" if one == "Fx_front" else "dq9"
            missing[[x.name for x in vehicle.mechanism.v].index(spin)] = vehicle.numbers["Ra"] * force
        assert_same(a - b, missing)


def test_the_11_dof_model_stands_on_two_points_of_the_road():
    vehicle = Example("vehicle_11dof")
    p = vehicle.numbers
    assert_same(vehicle.place("front_contact"), [p["Lf"], 0, 0])
    assert_same(vehicle.place("rear_contact"), [-p["Lr"], 0, 0])
    for frame in ("front_contact", "rear_contact"):
        assert_same(vehicle.turn(frame), np.eye(3))
    for wheel in ("front_wheel", "rear_wheel"):
        assert_same(vehicle.turn(wheel)[:, 2], [0, 1, 0])


def test_the_11_dof_model_rests_where_it_starts():
    """Each wheel carries its share of the chassis and its own weight; annex C's masses."""
    vehicle = Example("vehicle_11dof")
    p = vehicle.numbers
    assert vehicle.mass() == pytest.approx(1508 + 2 * 42.64)
    share = p["Lr"] / (p["Lf"] + p["Lr"])
    loads = road_loads(vehicle)
    assert loads["front_on_the_road"] == pytest.approx(G * (1508 * share + 42.64), rel=1e-9)
    assert loads["rear_on_the_road"] == pytest.approx(G * (1508 * (1 - share) + 42.64), rel=1e-9)


@pytest.mark.parametrize(("name", "steered"), [("vehicle_11dof", ["q3"]), ("vehicle_16dof", ["q3", "q8"])])
def test_steering_is_positive_to_the_left_whatever_the_coordinate_is(name, steered):
    vehicle = Example(name)
    names = [x.name for x in vehicle.mechanism.q]
    wheel = "front_wheel" if name == "vehicle_11dof" else "wheel_fl"
    assert_steers_left(vehicle, vehicle.start - 0.2 * np.isin(names, steered), wheel)


def assert_steers_left(vehicle: Example, q: np.ndarray, wheel: str) -> None:
    """`steering` is 0.2, and the wheel's heading, square to its axle, has turned from x to y by that."""
    axle = vehicle.turn(wheel, q)[:, 2]
    heading = np.cross(axle, [0, 0, 1])
    assert np.arctan2(heading[1], heading[0]) == pytest.approx(0.2)
    assert vehicle.number(vehicle.mechanism.outputs["steering"].value, q) == pytest.approx(0.2)


# -- sixteen degrees of freedom ----------------------------------------------------------------------------------------
CORNERS = {"fr": (1, -1), "fl": (1, 1), "rr": (-1, -1), "rl": (-1, 1)}
POLAR = {1: "base", 2: "suspension_fr", 5: "wheel_fr", 7: "suspension_fl", 10: "wheel_fl"}
POLAR |= {12: "suspension_rr", 14: "wheel_rr", 16: "suspension_rl", 18: "wheel_rl"}


def test_the_16_dof_model_is_the_par_file_in_polar_form():
    car = Example("vehicle_16dof", loads=False)
    p = car.numbers
    front, rear = np.hypot(p["Lf"], p["d2"]), np.hypot(p["Lr"], p["d12"])
    polar = {"d2": front, "d7": front, "off2": np.arctan2(p["d2"], p["Lf"])}
    polar |= {"d12": rear, "d16": rear, "off12": np.arctan2(p["d12"], -p["Lr"]), "Ra": p["Ra"]}
    twin = Example(par_twin(car, "par/modele16ddl", POLAR, polar), loads=False)
    assert_same_dynamics(car, twin)


def test_the_16_dof_model_is_the_par_file_of_table_3_5():
    """Whose symbols keep the numbers of the thesis."""
    car = Example("vehicle_16dof", loads=False)
    p = car.numbers
    values = p | {"d7": -p["d2"], "d16": -p["d12"]}
    twin = Example(par_twin(car, "par/modele16ddl_table35", POLAR, values), loads=False)
    assert_same_dynamics(car, twin)
    q = random_states(car)[0][0]
    for corner, frame in {"fr": "frame7", "fl": "frame12", "rr": "frame17", "rl": "frame21"}.items():
        assert_same(car.pose(f"contact_{corner}", q), twin.pose(frame, q))


@pytest.mark.parametrize("corner", CORNERS)
def test_the_wheels_of_the_16_dof_model_are_at_its_corners(corner):
    car = Example("vehicle_16dof")
    p, (fore, side) = car.numbers, CORNERS[corner]
    x, y = (p["Lf"], p["d2"]) if fore > 0 else (-p["Lr"], p["d12"])
    assert_same(car.place(f"contact_{corner}"), [x, side * y, 0])
    assert_same(car.place(f"wheel_{corner}"), [x, side * y, p["Ra"]])
    assert_same(car.turn(f"contact_{corner}"), np.eye(3))
    assert_same(car.turn(f"wheel_{corner}")[:, 2], [0, 1, 0])


def test_the_16_dof_model_rests_where_it_starts():
    car = Example("vehicle_16dof")
    p = car.numbers
    assert car.mass() == pytest.approx(1593.28)
    share = p["Lr"] / (p["Lf"] + p["Lr"])
    loads = road_loads(car)
    assert_same([loads[f"{c}_on_the_road"] for c in ("fr", "fl")], [G * (1508 * share / 2 + 21.32)] * 2, tolerance=1e-9)
    rear = G * (1508 * (1 - share) / 2 + 21.32)
    assert_same([loads[f"{c}_on_the_road"] for c in ("rr", "rl")], [rear] * 2, tolerance=1e-9)
    assert loads["fl_on_the_road"] == pytest.approx(4573, abs=1)


def test_the_anti_roll_bar_pulls_the_lower_wheel_up():
    """(3.23), corrected: on q2 the force is - K (q2 - q7)."""
    car = Example("vehicle_16dof")
    names = [x.name for x in car.mechanism.q]
    q = car.start + 0.02 * (np.array(names) == "q2")
    stiff = car("inverse_dynamics", q, car.rest, car.rest) - car("inverse_dynamics", car.start, car.rest, car.rest)
    p, k = car.numbers, [x.name for x in car.mechanism.v].index("dq2")
    other = [x.name for x in car.mechanism.v].index("dq7")
    assert -stiff[k] == pytest.approx(-0.02 * (p["Kf"] + p["Kar_f"]))
    assert -stiff[other] == pytest.approx(0.02 * p["Kar_f"])


# -- Smera -------------------------------------------------------------------------------------------------------------
SMERA = {1: "base", 2: "rear_lyre", 5: "strut_rl", 8: "strut_rr", 9: "arm_rl", 11: "wheel_rl", 13: "arm_rr"}
SMERA |= {15: "wheel_rr", 17: "lower_arm_fl", 18: "upright_fl", 21: "wheel_fl", 23: "lower_arm_fr", 24: "upright_fr"}
SMERA |= {27: "wheel_fr", 29: "upper_arm_fl", 30: "upper_arm_fr", 31: "front_lyre", 33: "strut_fl", 35: "strut_fr"}


def smera_par(car: Example) -> Example:
    p = car.numbers
    values = p | {"Ll": np.hypot(p["L13"], p["L14"]), "off32": np.arctan2(p["L14"], p["L13"])}
    values["IA2"] = p["gear"] ** 2 * p["Jm"]
    return Example(par_twin(car, "par/smera_rebuilt", SMERA, values), loads=False)


def test_the_tree_of_the_smera_is_the_par_file():
    """Whose wheels have their mass on the hubs: the same motion."""
    car = Example("smera", loads=False)
    twin = smera_par(car)
    assert_same_dynamics(car, twin)
    q = random_states(car)[0][0]
    for corner, number in {"rl": 12, "rr": 16, "fl": 22, "fr": 28}.items():
        assert_same(car.pose(f"contact_{corner}", q), twin.pose(f"frame{number}", q))


def test_without_its_loops_the_smera_accelerates_as_the_par_file():
    """Forward dynamics of both trees, under random efforts."""
    free = {"loops": FrozenDict(), "constraints": FrozenDict()}
    car = Example("smera", loads=False)
    mechanisms = [
        without_tyres(car.mechanism).model_copy(update=free),
        smera_par(car).mechanism,
    ]
    one, other = (Example(mechanism, loads=False) for mechanism in mechanisms)
    rng = np.random.default_rng(0)
    for q, v, _ in random_states(one):
        tau = rng.normal(size=32)
        found, expected = (e("forward_dynamics", q, v, tau) for e in (one, other))
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_the_coordinates_of_the_smera_are_those_of_the_thesis():
    names = [x.name for x in Example("smera").mechanism.q][6:]
    independent = [2, 5, 8, 33, 35, 21, 27, 11, 15, 19, 25]
    dependent = [3, 4, 9, 6, 7, 13, 17, 18, 29, 23, 24, 30, 31, 32, 34]
    assert sorted(names) == sorted(f"q{j}" for j in independent + dependent)


def test_loops_and_lyre_leave_the_smera_17_degrees_of_freedom_and_the_road_13():
    car = Example("smera")
    roads = [constraint.rolling is not None for constraint in car.mechanism.constraints.values()]
    rows = car.rows(car.start)
    assert len(rows) == 2 * 3 + 4 * 5 + 5
    without_road = rows[: len(rows) - sum(roads)]
    assert 32 - np.linalg.matrix_rank(without_road, tol=1e-9) == 17
    assert 32 - np.linalg.matrix_rank(rows, tol=1e-9) == 13


@pytest.mark.parametrize("corner", CORNERS)
def test_the_smera_stands_on_a_rectangle(corner):
    car = Example("smera")
    fore, side = CORNERS[corner]
    place = [0.93 if fore > 0 else -0.85, side * 0.35, 0]
    assert_same(car.place(f"contact_{corner}"), place)
    assert_same(car.turn(f"contact_{corner}"), np.eye(3))
    assert_same(car.turn(f"wheel_{corner}")[:, 2], [0, 1, 0])


def test_the_rows_of_the_road_are_the_rates_of_the_heights_of_the_contacts():
    """(4.57), in any pose in which uprights and chassis are parallel, which the parallelograms keep so."""
    car = Example("smera")
    names, speeds = ([x.name for x in variables] for variables in (car.mechanism.q, car.mechanism.v))
    wheels = [name for name, c in car.mechanism.constraints.items() if c.rolling is not None]
    for q, v, _ in random_states(car):
        for arm, upright in (("q17", "q18"), ("q23", "q24")):
            q[names.index(upright)] = np.pi / 2 - q[names.index(arm)]
            v[speeds.index(f"d{upright}")] = -v[speeds.index(f"d{arm}")]
        step = 1e-4 * car("rates", q, v)
        heights = [np.array([car.place(f"contact_{c}", x)[2] for c in wheels]) for x in (q + step, q - step)]
        np.testing.assert_allclose(car.rows(q)[-4:] @ v, (heights[0] - heights[1]) / 2e-4, atol=1e-7)


@pytest.mark.parametrize("name", ["vehicle_11dof", "vehicle_16dof"])
def test_the_equations_of_the_road_are_the_heights_of_the_contacts_of_other_vehicles_too(name):
    vehicle = Example(name)
    for q, _, _ in random_states(vehicle):
        for key, constraint in vehicle.mechanism.constraints.items():
            corner = key.removesuffix("_on_the_road")
            frame = f"contact_{corner}" if len(corner) == 2 else f"{corner}_contact"
            assert vehicle.number(constraint.zero, q) == pytest.approx(vehicle.place(frame, q)[2], abs=1e-12)


def test_the_smera_weighs_500_kg_and_rests_where_it_starts():
    car = Example("smera")
    assert car.mass() == pytest.approx(500)
    loads = road_loads(car)
    assert sum(loads.values()) == pytest.approx(500 * G, rel=1e-9)
    assert loads["fl"] == pytest.approx(loads["fr"], rel=1e-9)
    assert loads["rl"] == pytest.approx(loads["rr"], rel=1e-9)
    assert min(loads.values()) > 1000


def test_the_loops_of_the_smera_satisfy_the_corrected_equations_4_1_and_4_2():
    """The foot of each rear strut, seen from the lyre and from the arm."""
    car = Example("smera")
    p = car.numbers
    q = dict(zip((x.name for x in car.mechanism.q), car.start, strict=True))
    s, c = ({k: f(x) for k, x in q.items()} for f in (np.sin, np.cos))
    L1, L2, L3, L4, L5 = (p[f"L{k}"] for k in range(1, 6))
    Lp, fp, gp, b2, r2 = (p[k] for k in ("Lp", "fp", "gp", "b2", "r2"))
    left = [
        -r2 + q["q5"] * s["q3"] * s["q4"],
        L1 * c["q2"] + L2 * s["q2"] - q["q5"] * c["q4"] * s["q2"] + q["q5"] * c["q2"] * c["q3"] * s["q4"],
        -b2 - L2 * c["q2"] + q["q5"] * c["q2"] * c["q4"] + L1 * s["q2"] + q["q5"] * c["q3"] * s["q2"] * s["q4"],
    ]
    assert_same(left, [-L4 + Lp * c["q9"] - fp * s["q9"], -gp + L5, -L3 + fp * c["q9"] + Lp * s["q9"]])
    right = [
        -r2 - q["q8"] * s["q6"] * s["q7"],
        L1 * c["q2"] - L2 * s["q2"] - q["q8"] * c["q7"] * s["q2"] + q["q8"] * c["q2"] * c["q6"] * s["q7"],
        -b2 + L2 * c["q2"] + q["q8"] * c["q2"] * c["q7"] + L1 * s["q2"] + q["q8"] * c["q6"] * s["q2"] * s["q7"],
    ]
    assert_same(right, [-L4 + Lp * c["q13"] + fp * s["q13"], gp - L5, -L3 + fp * c["q13"] - Lp * s["q13"]])


def test_steering_of_the_smera_is_positive_to_the_left():
    car = Example("smera")
    names = [x.name for x in car.mechanism.q]
    assert_steers_left(car, car.start + 0.2 * np.isin(names, ["q19", "q25"]), "wheel_fr")


def test_a_lyre_that_follows_the_roll_stays_upright():
    car = Example("smera")
    names = [x.name for x in car.mechanism.q]
    q = car.start + 0.3 * (np.array(names) == "roll") + 0.3 * car.numbers["K_lyre"] * (np.array(names) == "q31")
    assert_same(car.turn("front_lyre", q)[:, 0], [0, 0, 1])
