"""SYMORO files: what a file says is what the mechanism is."""

import math
from pathlib import Path

import numpy as np
import pytest

from support.listings_by_hand import Rx, Ry, Rz, frames, move, posed, symbols, vectors
from torseur.describe import BaseKind, Effort, Formula, Mechanism, SpringDamper, Transmission, Wrench
from torseur.errors import ModelError
from torseur.formats.symoro import read_par, write_par

DATA = Path(__file__).resolve().parents[2] / "data"
FILES = {path.stem: path for path in [*DATA.glob("par/*.par"), *DATA.glob("symoro/*.par")]}
VEHICLES = ["bicilacet_3ddl", "modele11ddl", "modele16ddl", "modele16ddl_table35", "smera_rebuilt"]


def mechanism_of(name: str) -> Mechanism:
    return read_par(FILES[name].read_bytes(), name, f"{name}.par")


def text_of(name: str) -> str:
    return FILES[name].read_text(encoding="utf-8")


def test_there_are_ten_files():
    assert len(FILES) == 10


# -- facts -------------------------------------------------------------------------------------------------------------
# bodies, coordinates (with those of the base), base, named frames, loops
FACTS = {
    "RX90": (6, 6, "fixed", [], 0),
    "RX90num": (6, 6, "fixed", [], 0),
    "SR400": (8, 8, "fixed", ["frame9", "frame10"], 1),
    "Stanford": (6, 6, "fixed", [], 0),
    "orthoglide": (15, 15, "fixed", [], 0),
    "bicilacet_3ddl": (2, 4, "planar", ["frame3"], 0),
    "modele11ddl": (8, 11, "floating", ["frame6", "frame10"], 0),
    "modele16ddl": (15, 16, "floating", ["frame6", "frame11", "frame15", "frame19"], 0),
    "modele16ddl_table35": (17, 16, "floating", ["frame7", "frame12", "frame17", "frame21"], 0),
    "smera_rebuilt": (31, 32, "floating", ["frame12", "frame16", "frame22", "frame28"], 0),
}


@pytest.mark.parametrize("name", FACTS)
def test_a_file_has_the_bodies_coordinates_frames_and_loops_it_lists(name):
    mechanism = mechanism_of(name)
    bodies, coordinates, base, named, loops = FACTS[name]
    points = [frame for body in mechanism.bodies.values() for frame in body.frames]
    assert (len(mechanism.bodies), len(mechanism.q), mechanism.base.kind.value) == (bodies, coordinates, base)
    assert sorted(points, key=lambda point: int(point[5:])) == named
    assert len(mechanism.loops) == loops


@pytest.mark.parametrize("name", FACTS)
def test_every_frame_hangs_where_ant_says(name):
    mechanism = mechanism_of(name)
    ant = [int(x) for x in vectors(text_of(name))["ant"]]
    for j, parent in enumerate(ant, 1):
        expected = f"body{parent}" if parent else "base"
        if f"body{j}" in mechanism.bodies:
            assert mechanism.bodies[f"body{j}"].parent == expected
        else:
            assert mechanism.frames[f"frame{j}"] == expected


@pytest.mark.parametrize("name", FACTS)
def test_joints_are_of_the_kind_sigma_says(name):
    mechanism = mechanism_of(name)
    sigma = [int(x) for x in vectors(text_of(name))["sigma"]]
    kinds = {f"body{j}": ("revolute", "prismatic", "fixed")[s] for j, s in enumerate(sigma, 1)}
    assert {body: record.joint.kind for body, record in mechanism.bodies.items()} == {
        b: kinds[b] for b in mechanism.bodies
    }


def test_coordinates_are_the_symbols_in_theta_and_r():
    assert [x.name for x in mechanism_of("RX90").q] == ["th1", "th2", "th3", "th4", "th5", "th6"]
    assert [x.name for x in mechanism_of("Stanford").q] == ["th1", "th2", "r3", "th4", "th5", "th6"]
    assert [x.name for x in mechanism_of("orthoglide").q] == [f"q{k}" for k in range(1, 16)]
    base = ["x", "y", "z", "roll", "pitch", "yaw"]
    assert [x.name for x in mechanism_of("modele11ddl").q] == [*base, "r2", "t3", "t5", "r7", "t9"]
    assert [x.name for x in mechanism_of("bicilacet_3ddl").q] == ["x", "y", "yaw", "t2"]
    # numbered as in the thesis, not as the frames of this file
    names = [x.name for x in mechanism_of("modele16ddl_table35").q]
    assert names == [*base, "r2", "t3", "t5", "r7", "t8", "t10", "r12", "t14", "r16", "t18"]


def test_a_joint_without_a_symbol_has_a_coordinate_named_after_its_number():
    assert [x.name for x in mechanism_of("RX90num").q] == ["q1", "q2", "q3", "q4", "q5", "q6"]


def test_symbols_of_geometry_and_inertia_are_parameters_without_a_value():
    mechanism = mechanism_of("SR400")
    assert {"d2", "d3", "d4", "d8", "r4", "XX1", "MZ8", "M8", "IA8", "FV8", "FS8", "G3"} <= mechanism.parameters.keys()
    assert all(parameter.value is None for parameter in mechanism.parameters.values())
    assert mechanism.bodies["body1"].place.mdh.b == 1.0
    units = {name: mechanism.parameters[name].unit for name in ("d2", "XX1", "MX1", "M1", "FV1", "G3")}
    assert units == {"d2": "m", "XX1": "kg m2", "MX1": "kg m", "M1": "kg", "FV1": "N m s/rad", "G3": "m/s2"}
    assert mechanism_of("Stanford").parameters["FV3"].unit == "N s/m"


def test_the_offset_of_a_coordinate_is_what_is_added_to_it():
    smera = mechanism_of("smera_rebuilt").bodies
    assert str(smera["body17"].place.mdh.theta) == "pi/2"
    assert str(smera["body32"].place.mdh.theta) == "off32 - pi/2"
    assert str(smera["body34"].place.mdh.theta) == "-off32 - pi/2"
    assert str(mechanism_of("orthoglide").bodies["body2"].place.mdh.r) == "-a"


def test_fixed_frames_with_inertia_are_bodies_and_those_without_are_points():
    smera = mechanism_of("smera_rebuilt")
    for hub, wheel, contact in ((10, 11, 12), (14, 15, 16), (20, 21, 22), (26, 27, 28)):
        body = smera.bodies[f"body{hub}"]
        assert body.joint.kind == "fixed"
        assert Formula(f"M{wheel}") == body.inertia.M
        assert list(body.frames) == [f"frame{contact}"]
    assert mechanism_of("modele11ddl").bodies["body4"].inertia is None


def test_contact_frames_may_follow_coordinates_of_others():
    smera = mechanism_of("smera_rebuilt").bodies
    assert str(smera["body10"].frames["frame12"].place.mdh.gamma) == "-pi + t9"
    assert str(smera["body14"].frames["frame16"].place.mdh.gamma) == "pi - t13"


# -- base and gravity --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", VEHICLES)
def test_symbolic_base_velocities_mean_a_moving_base_with_gravity_in_the_world(name):
    mechanism = mechanism_of(name)
    assert mechanism.base.kind is (BaseKind.PLANAR if name.startswith("bici") else BaseKind.FLOATING)
    assert mechanism.base.orientation == "rpy" or mechanism.base.kind is BaseKind.PLANAR
    assert mechanism.gravity == (0.0, 0.0, -9.81)
    assert any("gravity" in note for note in mechanism.notes)
    assert not {"Gx", "vx", "wz", "vpx"} & mechanism.parameters.keys()


def test_gravity_of_a_fixed_base_is_kept():
    assert mechanism_of("RX90num").gravity == (0.0, 0.0, -9.8)
    assert mechanism_of("RX90").gravity == (0.0, 0.0, Formula("G3"))
    assert mechanism_of("orthoglide").gravity == (0.0, Formula("g2"), 0.0)
    assert any("G3" in note for note in mechanism_of("RX90").notes)


# -- loads -------------------------------------------------------------------------------------------------------------
def wrench_of(mechanism: Mechanism, name: str) -> list[str]:
    load = mechanism.loads[name]
    assert isinstance(load, Wrench)
    assert load.axes == "frame"
    return [str(x) for x in (*load.force, *load.torque)]


def test_wrenches_are_what_the_surroundings_do_to_the_robot():
    rx90 = mechanism_of("RX90")
    assert wrench_of(rx90, "wrench6") == ["-FX6", "-FY6", "-FZ6", "-CX6", "-CY6", "-CZ6"]
    assert rx90.loads["wrench6"].frame == "body6"
    car = mechanism_of("modele16ddl")
    assert wrench_of(car, "wrench11") == ["FX11", "FY11", "FZ11", "CX11", "CY11", "CZ11"]
    assert car.loads["wrench11"].frame == "frame11"
    bicycle = mechanism_of("bicilacet_3ddl")
    assert wrench_of(bicycle, "wrench2") == ["FX2", "FY2", "0.0", "0.0", "0.0", "0.0"]
    assert [bicycle.loads[name].frame for name in ("wrench2", "wrench3")] == ["body2", "frame3"]
    assert {"FX2", "FY2", "FX3", "FY3"} < bicycle.inputs.keys()


def test_active_joints_are_driven_by_inputs():
    rx90 = mechanism_of("RX90num")  # mu = 1,1,0,1,1,1 and no GAM
    assert [name for name in rx90.inputs if name.startswith("GAM")] == ["GAM1", "GAM2", "GAM4", "GAM5", "GAM6"]
    assert rx90.loads["effort4"] == Effort(coordinate="q4", value=Formula("GAM4"))
    assert not [name for name in mechanism_of("Stanford").inputs if name.startswith("GAM")]  # mu = 0


def test_friction_and_drives_are_loads_of_joints():
    rx90 = mechanism_of("RX90num")
    assert rx90.loads["friction3"] == SpringDamper(coordinate="q3", damping=Formula("FV3"), friction=Formula("FS3"))
    assert rx90.loads["drive2"] == Transmission(coordinate="q2", inertia=Formula("IA2"))
    assert "drive3" not in rx90.loads
    car = mechanism_of("modele11ddl").loads
    assert car["friction7"] == SpringDamper(coordinate="r7", damping=Formula("FV7"))


# -- geometry ----------------------------------------------------------------------------------------------------------
def sample(name: str, seed: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    return {symbol: float(x) for symbol in sorted(symbols(text_of(name))) for x in [rng.uniform(0.2, 1.3)]}


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", FACTS)
def test_every_frame_is_where_the_product_of_rows_puts_it(name, seed):
    mechanism = mechanism_of(name)
    values = sample(name, seed)
    rng = np.random.default_rng(seed)
    q = {x.name: values[x.name] if x.name in values else float(rng.uniform(-1, 1)) for x in mechanism.q}
    found = posed(mechanism, q, {key: x for key, x in values.items() if key in mechanism.parameters})
    moved = {j: q[f"q{j}"] for j in range(1, 7)} if name == "RX90num" else None
    cut = {"th9": 0.0} if name == "SR400" else {}
    expected = frames(text_of(name), values | cut, moved)
    base = base_pose(mechanism, q)
    for j, T in enumerate(expected[1:], 1):
        body = f"body{j}" if f"body{j}" in mechanism.bodies else f"frame{j}"
        np.testing.assert_allclose(found[body], base @ T, atol=1e-13)


def base_pose(mechanism: Mechanism, q: dict[str, float]) -> np.ndarray:
    if mechanism.base.kind is BaseKind.FIXED:
        return np.eye(4)
    turn = Rz(q["yaw"])
    if mechanism.base.kind is BaseKind.FLOATING:
        turn = turn @ Ry(q["pitch"]) @ Rx(q["roll"])
    return move(q["x"], q["y"], q.get("z", 0.0)) @ turn


CAR = {"Lf": 1.1, "Lr": 1.4, "Ra": 0.31, "e": 0.74}


def car_16dof() -> dict[str, float]:
    Lf, Lr, e = CAR["Lf"], CAR["Lr"], CAR["e"]
    d, off = (
        {"d2": math.hypot(Lf, e), "d12": math.hypot(Lr, e)},
        {"off2": math.atan2(e, Lf), "off12": math.atan2(e, -Lr)},
    )
    return {**d, **off, "d7": d["d2"], "d16": d["d12"], "Ra": CAR["Ra"]}


def test_the_wheels_of_the_16_dof_car_touch_the_road_at_four_corners():
    found = posed(mechanism_of("modele16ddl"), {}, car_16dof())
    Lf, Lr, Ra, e = CAR.values()
    corners = {"frame6": (Lf, -e, -Ra), "frame11": (Lf, e, -Ra), "frame15": (-Lr, -e, -Ra), "frame19": (-Lr, e, -Ra)}
    for name, corner in corners.items():
        np.testing.assert_allclose(found[name], move(*corner), atol=1e-14)


def test_both_forms_of_the_16_dof_car_are_the_same_car():
    rng = np.random.default_rng(16)
    polar, table = mechanism_of("modele16ddl"), mechanism_of("modele16ddl_table35")
    assert [x.name for x in polar.q] == [x.name for x in table.q]
    q = {x.name: float(rng.uniform(-0.5, 0.5)) for x in polar.q}
    e = CAR["e"]
    found = posed(polar, q, car_16dof())
    other = posed(table, q, {**{k: CAR[k] for k in ("Lf", "Lr", "Ra")}, "d2": e, "d7": -e, "d12": e, "d16": -e})
    for a, b in (("frame6", "frame7"), ("frame11", "frame12"), ("frame15", "frame17"), ("frame19", "frame21")):
        np.testing.assert_allclose(found[a], other[b], atol=1e-14)


def test_signs_of_steering_suspension_and_spin():
    bicycle = posed(mechanism_of("bicilacet_3ddl"), {"t2": 0.1}, {"Lf": 1.0, "Lr": 1.0})
    assert bicycle["body2"][1, 0] > 0  # positive steering turns left
    values = {"Lf": 1.0, "Lr": 1.0, "Ra": 0.3}
    rest, steered, low = (posed(mechanism_of("modele11ddl"), q, values) for q in ({}, {"t3": 0.1}, {"r2": 0.05}))
    assert steered["frame6"][1, 0] < 0  # positive steering turns right
    assert low["frame6"][2, 3] == pytest.approx(rest["frame6"][2, 3] - 0.05)  # extension positive
    np.testing.assert_allclose(rest["body5"][:3, 2], [0, 1, 0], atol=1e-15)  # the wheel turns about +y


def smera_at_rest() -> tuple[dict[str, float], dict[str, float]]:
    """Dimensions and rest posture of an invented but closed completion of the Smera."""
    values = {"L3": 0.15, "L4": 0.45, "L5": 0.35, "L6": 0.406078810084939, "b2": -0.1, "r2": 0.7292561374386421}
    values |= {
        "L1": 0.12,
        "L2": 0.15,
        "L7": 0.32,
        "L8": 0.93,
        "L9": 0.1,
        "L10": 0.25,
        "L11": 0.1,
        "L12": 0.1,
        "Ra": 0.28,
    }
    values |= {"Ll": math.hypot(0.25, 0.12), "off32": math.atan2(0.12, 0.25)}
    half = math.pi / 2
    q = {"t2": half, "t9": 3.314838320042158, "t13": -3.314838320042158, "t17": -half, "t18": math.pi, "t19": -half}
    return values, {**q, "t23": half, "t24": 0.0, "t25": half, "t29": -half, "t30": half}


def test_the_smera_stands_on_four_wheels_symmetric_left_and_right():
    values, q = smera_at_rest()
    found = posed(mechanism_of("smera_rebuilt"), q, values)
    corners = {"frame12": (-0.85, 0.35), "frame16": (-0.85, -0.35), "frame22": (0.93, 0.35), "frame28": (0.93, -0.35)}
    for name, (x, y) in corners.items():
        np.testing.assert_allclose(found[name], move(x, y, -0.5), atol=1e-12)


def test_contact_frames_of_the_smera_keep_the_axes_of_the_chassis():
    values, q = smera_at_rest()
    found = posed(mechanism_of("smera_rebuilt"), {**q, "t9": 2.9, "t13": -3.1}, values)
    for name in ("frame12", "frame16"):
        np.testing.assert_allclose(found[name][:3, :3], np.eye(3), atol=1e-12)


# -- loops -------------------------------------------------------------------------------------------------------------
def sr400(th2: float, th3: float, slack: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Both frames of the cut joint; the parallelogram closes when link 7 stays parallel to the bar on link 3."""
    th7 = th2 + th3 + math.pi / 2
    q = {"th1": 0.4, "th2": th2, "th3": th3, "th4": 0.2, "th7": th7 + slack, "th8": th2 - th7}
    found = posed(mechanism_of("SR400"), q, {"d2": 0.3, "d3": 0.8, "d4": 0.2, "d8": 0.5, "r4": 1.0})
    return found["frame9"] @ Rz(th7 - th2), found["frame10"]


@pytest.mark.parametrize(("th2", "th3"), [(0.3, 0.5), (-1.0, 0.2), (0.0, -0.7)])
def test_the_loop_of_the_sr400_closes_as_a_parallelogram(th2, th3):
    a, b = sr400(th2, th3)
    np.testing.assert_allclose(a, b, atol=1e-14)
    a, b = sr400(th2, th3, slack=0.1)
    assert np.abs(a - b).max() > 0.01


def test_a_loop_ties_cut_frame_k_to_frame_k_plus_the_number_of_loops():
    loop = mechanism_of("SR400").loops["loop9"]
    assert (loop.joint, loop.between) == ("revolute", ("frame9", "frame10"))
    assert mechanism_of("SR400").frames["frame9"] == "body8"
    assert mechanism_of("SR400").frames["frame10"] == "body3"


def test_a_mechanism_without_bodies_is_refused_and_not_written_as_a_file_that_cannot_be_read():
    with pytest.raises(ModelError, match="without bodies"):
        write_par(Mechanism(name="nothing"))
