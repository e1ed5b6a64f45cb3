"""Scenario files, the studies they make of vehicles, and what is refused."""

import math
import shutil
from pathlib import Path

import pytest

import torseur as ts
from support.vehicles import DATA, car
from torseur.cli import main
from torseur.describe.checks import Severity
from torseur.errors import ArgumentError, ModelError
from torseur.formats import read
from torseur.packs.tyres import load_tir
from torseur.packs.vehicles.layout import Layout
from torseur.packs.vehicles.scenarios import load_scenario, reference, scenario_names
from torseur.packs.vehicles.scenarios.reader import scenario_text
from torseur.simulation.study.reader import study_of_text
from torseur.simulation.study.study import Study
from torseur.simulation.study.writer import study_text

ROOT = Path(__file__).resolve().parents[3]
TIR = ROOT / "examples" / "tyres" / "mf52.tir"
WITHOUT_FINDING = [n for n in scenario_names() if all(p.found is None for p in load_scenario(n).parameters.values())]
STEPS = {"amplitude": 0.02}
"""What would take a run before."""


def applied(model, name, **values):
    return ts.scenario(name, **values).applied(Study(model=model))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cars")


@pytest.fixture(scope="module")
def vehicle(folder):
    return car(folder)


# -- files -------------------------------------------------------------------------------------------------------------
def test_the_page_of_scenarios_is_that_of_the_files():
    page = (ROOT / "docs" / "reference" / "scenarios.md").read_text(encoding="utf-8")
    text = "write torseur.packs.vehicles.scenarios.reference() below the mark"
    assert page.partition("<!-- scenarios -->\n\n")[2] == reference(), text


@pytest.mark.parametrize("name", scenario_names())
def test_every_scenario_is_called_like_its_file_and_is_a_study_that_can_be_written(name, vehicle):
    assert load_scenario(name).name == name
    values = STEPS if name not in WITHOUT_FINDING else {}
    study = applied(vehicle, name, **values)
    assert study_of_text(study_text(study)).study == study
    assert study.indicators
    assert study.until > 1.0


def test_an_unknown_scenario_is_answered_with_one_that_sounds_alike():
    with pytest.raises(ArgumentError, match="no scenario 'step_ster'") as caught:
        ts.scenario("step_ster")
    assert "step_steer" in (caught.value.remedy or "")


def test_faults_of_a_scenario_file_are_told_with_their_lines(tmp_path):
    text = scenario_text("turn")[0].decode().replace("amplitude:", "amplitud:").replace("until:", "untl:")
    file = tmp_path / "mine.yaml"
    file.write_text(text.replace("value: 10,", "value: 10*wdth,"))
    with pytest.raises(ModelError) as caught:
        load_scenario(file)
    told = str(caught.value)
    assert "untl" in told
    assert "did you mean 'until'?" in told
    file.write_text(text.replace("untl:", "until:").replace("value: 10,", "value: 10*wdth,"))
    with pytest.raises(ModelError, match=r"mine\.yaml:\d+:\d+: parameters\.speed: unknown name 'wdth'"):
        load_scenario(file)


def test_a_file_of_ones_own_is_used_like_one_of_ours(tmp_path, vehicle):
    file = tmp_path / "mine.yaml"
    file.write_bytes(scenario_text("turn")[0].replace(b"value: 10,", b"value: 12,"))
    assert applied(vehicle, file).start["vx"] == 12.0


# -- values ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("speed", [0.0, -3.0])
def test_a_speed_of_zero_is_refused_by_name(vehicle, speed):
    with pytest.raises(ArgumentError, match="'speed' of the scenario 'turn' is out of range") as caught:
        applied(vehicle, "turn", speed=speed)
    assert caught.value.expected == "more than 0 m/s"


def test_an_unknown_parameter_is_refused(vehicle):
    with pytest.raises(ArgumentError, match="the scenario 'turn' has no parameter 'sped'") as caught:
        applied(vehicle, "turn", sped=3.0)
    assert "speed" in (caught.value.remedy or "")


def test_lanes_of_iso_3888_grow_with_the_width_of_the_vehicle(vehicle):
    gates = applied(vehicle, "iso_3888_2", width=1.8).indicators["course"].gates
    first, second, third = gates["first"], gates["second"], gates["third"]
    assert first.left - first.right == pytest.approx(1.1 * 1.8 + 0.25)
    assert second.left - second.right == pytest.approx(1.8 + 1.0)
    assert third.left - third.right == pytest.approx(3.0)
    assert second.right - first.left == pytest.approx(1.0)
    assert third.right == pytest.approx(first.right)
    assert third.end - first.begin == 61.0


def test_a_mirrored_scenario_has_mirrored_gates(vehicle):
    left, right = (applied(vehicle, "iso_3888_1", side=side).indicators["course"].gates for side in (1.0, -1.0))
    for name in left:
        assert left[name].left == pytest.approx(-right[name].right)
        assert left[name].right == pytest.approx(-right[name].left)


# -- vehicles ----------------------------------------------------------------------------------------------------------
def test_the_layout_of_a_car_is_what_its_file_says(vehicle):
    layout = Layout(vehicle)
    assert layout.mass == pytest.approx(1480.0)
    assert layout.wheelbase == pytest.approx(2.6)
    assert layout.width == pytest.approx(1.7)
    assert layout.centre[0] == pytest.approx(40.0 * (1.2 - 1.4) / 1480.0)
    assert [wheel.is_steered for wheel in layout.wheels] == [True, True, False, False]
    assert layout.force_of(layout.held_by("brake_torque")) == pytest.approx(1.0 / 0.3)
    assert layout.trailers == ()


def test_what_is_geared_to_the_wheels_turns_with_them(folder):
    """A rotor behind an open differential drives, and turns at the start of a scenario."""
    motor = {"motor": {"torque": "200 - 0.1*omega", "reduction": 4, "inertia": 0.05}}
    geared = car(folder, name="geared", drive=motor)
    layout = Layout(geared)
    assert layout.rolling(6.0) == pytest.approx({**{wheel.spin: 20.0 for wheel in layout.wheels}, "drotor": 80.0})
    assert layout.force_of(layout.turned_by("throttle", **layout.rolling(6.0))) == pytest.approx(192.0 * 4 / 0.3)
    assert applied(geared, "turn_at_constant_speed", speed=6.0).start["drotor"] == pytest.approx(80.0)


def test_wheels_that_are_pressed_in_begin_to_roll_with_the_radius_of_their_static_load(folder):
    """Without slip: R less a third of the deflection; the free radius would brake the car at the start."""
    soft = {"wheel": {"stiffness": 150000}}
    start = applied(car(folder, name="soft", axles={"front": soft, "rear": soft}), "double_turn").start
    for wheel, arm in (("front_left", 1.4), ("rear_right", 1.2)):
        depth = (1400.0 * arm / 2.6 / 2 + 20.0) * 9.81 / 150000
        assert start[f"dspin_{wheel}"] == pytest.approx(start["vx"] / (0.3 - depth / 3.0), rel=1e-9)


@pytest.mark.parametrize("ackermann", [0.0, 0.7])
def test_wheels_behind_a_soft_column_turn_by_ackermann_too(folder, ackermann):
    column = {"ratio": 16, "inertia": 0.05, "stiffness": 200}
    steering = {"kind": "column", "column": column, "ackermann": ackermann}
    made = car(folder, name="soft_column", steering=steering)
    assert Layout(made).ratio("steering_wheel") == pytest.approx(16.0)
    q = {x.name: x.start for x in made.q}
    names = ("rack_angle",) if ackermann else ()
    rows = made.constraints
    mean = 0.3
    bend = ackermann * math.tan(mean) * 1.5 / (2 * 2.6)
    left, right = (math.atan(math.tan(mean) / (1 - s * bend)) for s in (1, -1))
    known = dict.fromkeys((*names, "steer_front_left"), mean)
    assert set(known) <= set(q)
    couplings = [c.coupling for c in rows.values() if c.coupling]
    found = {c.coordinate: Layout(made).scalar(c.equals, **known) for c in couplings}
    assert found.get("steer_front_left", mean) == pytest.approx(left)
    assert found["steer_front_right"] == pytest.approx(right)


def test_a_wheel_with_camber_stands_on_the_road(folder):
    wheel = {"crown": 0.1}
    struts = {"suspension": {"strut": {"camber": "-0.05 - 0.2*travel"}}, "wheel": wheel}
    made = car(folder, name="tilted", axles={"front": struts, "rear": {"wheel": wheel}})
    layout = Layout(made)
    assert layout.wheels[0].place[2] + 0.5 == pytest.approx(0.1 + 0.2 * math.cos(0.05))
    assert layout.wheels[2].place[2] + 0.5 == pytest.approx(0.3)


def test_all_that_a_vehicle_cannot_do_is_refused_at_once(folder):
    bare = {name: {"drive": None, "brake": None, "steered": None} for name in ("front", "rear")}
    with pytest.raises(ModelError) as caught:
        applied(car(folder, name="bare", axles=bare), "braking_in_turn", **STEPS)
    told = str(caught.value)
    for what in ("no steering", "no drive", "no brakes", "`drive: 1`", "`steered: true`"):
        assert what in told


def test_a_mechanism_without_tyres_is_refused():
    with pytest.raises(ModelError, match="no wheels on tyres"):
        applied(ts.load(ROOT / "examples" / "rx90" / "rx90.yaml"), "turn")


def test_a_planar_chassis_is_refused_on_bumps():
    with pytest.raises(ModelError, match="moves in a plane"):
        applied(ts.load(DATA / "single_track.yaml"), "bumps")


def test_an_input_that_the_study_drives_too_is_refused(vehicle):
    study = Study(model=vehicle, inputs={"steering": 0.1})
    with pytest.raises(ModelError, match="both the study and the scenario 'turn' have a block for steering"):
        ts.scenario("turn").applied(study)


def test_what_a_study_says_beside_is_kept(vehicle):
    study = Study(model=vehicle, blocks={"seen": {"pose": {"frame": "base"}}}, parameters={})
    assert "seen" in ts.scenario("turn").applied(study).blocks


@pytest.mark.parametrize("kind", ["angle", "torque", "column"])
def test_every_kind_of_steering_is_turned(folder, kind):
    column = {"column": {"ratio": 16, "inertia": 0.05}} if kind == "column" else {}
    study = applied(car(folder, name=kind, steering={"kind": kind, **column}), "turn")
    if kind == "angle":
        assert study.inputs["steering"].kind == "formula"
    else:
        assert study.inputs["steering_torque"].kind == "steering_pd"
        assert study.inputs["steering_torque"].wanted.text == (
            "wanted_steering" if kind == "torque" else "16.0*wanted_steering"
        )


def test_a_motor_is_held_between_0_and_1(folder):
    motor = {"motor": {"torque": "200 - 0.1*omega", "reduction": 4}}
    study = applied(car(folder, name="motor", drive=motor), "turn_at_constant_speed", speed=20.0)
    control = study.inputs["throttle"]
    F1 = 4 * (200 - 0.1 * 4 * 20 / 0.3) / 0.3
    assert control.kp.value() == pytest.approx(1480.0 / F1 / 0.5)
    assert (control.lower, control.upper) == (0.0, 1.0)


# -- the command line --------------------------------------------------------------------------------------------------
def test_the_command_lists_scenarios_and_shows_one(capsys):
    assert main(["scenarios"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(scenario_names())
    assert main(["scenarios", "step_steer"]) == 0
    out = capsys.readouterr().out
    assert "found by slow_steer" in out
    assert "unverified" in out
    assert main(["scenarios", "turn", "--file"]) == 0
    assert capsys.readouterr().out.encode() == scenario_text("turn")[0]


def test_the_command_writes_the_study_and_says_what_is_unknown(tmp_path, capsys):
    model, study = str(DATA / "single_track.yaml"), tmp_path / "turn.yaml"
    assert main(["simulate", model, "--scenario", "turn", "--set", "speed=36*kmh", "--write-study", str(study)]) == 0
    assert ts.load_study(study).start["vx"] == pytest.approx(10.0)
    assert main(["simulate", model, "--scenario", "turn", "--set", "sped=3"]) == 1
    assert "did you mean 'speed'?" in capsys.readouterr().err
    assert main(["simulate", model, "--scenario", "step_steer"]) == 1
    assert "no drive" in capsys.readouterr().err


# -- vehicle files -----------------------------------------------------------------------------------------------------
def test_values_that_no_vehicle_has_are_refused_together_with_their_fields(folder):
    axles = {"front": {"track": -1.5, "brake": 0.9, "wheel": {"radius": "-0.3*one"}}}
    changes = {"name": "wrong", "parameters": {"one": 1}, "axles": axles, "chassis": {"inertia": {"mass": -5}}}
    with pytest.raises(ModelError) as caught:
        car(folder, **changes)
    told = str(caught.value)
    for what in (
        "axles.front.track: 'track' is out of range",
        "axles.front.wheel.radius: 'radius' is out of range",
        "chassis.inertia.mass: 'mass' is out of range",
        "axles.front.brake: the shares of the brake do not add up to 1",
    ):
        assert what in told


@pytest.mark.parametrize("name", ["mf52.tir", "mf61.tir"])
def test_a_law_of_property_files_may_stand_in_the_vehicle_file_itself(folder, name):
    """Its methods have names that are fields of other laws."""
    law = load_tir(TIR.with_name(name)).law
    given = {key: value for key, value in law.model_dump().items() if value is not None}
    car(folder, name="within", axles={"front": {"tyre": {"linear": None, law.kind: given}}})
    found = ts.load(folder / "within.yaml").loads["front_left"].law
    assert found == law.model_copy(update={"mounted": "left"})


@pytest.mark.parametrize(("radius", "is_told"), [(0.359, True), (0.361, False), (0.439, False), (0.441, True)])
def test_a_wheel_of_another_size_than_its_tyre_file_is_a_warning(folder, radius, is_told):
    """The tyre of the file has 0.4 m."""
    shutil.copy(TIR, folder / "front.tir")
    tyre = {"linear": None, "tir": {"file": "front.tir"}}
    changes = {"parameters": {"Ra": {"value": radius}}, "axles": {"front": {"wheel": {"radius": "Ra"}, "tyre": tyre}}}
    car(folder, name="sized", **changes)
    found = [fault for fault in read(folder / "sized.yaml").faults if "size" in fault.what]
    assert [fault.path[1] for fault in found] == (["front_left", "front_right"] if is_told else [])
    assert all(fault.severity is Severity.WARNING for fault in found)


def test_laws_that_know_no_radius_fit_every_wheel_and_others_their_own(folder):
    assert sizes_told(folder, {}) == []
    assert sizes_told(folder, {"radius": 0.33}) == []
    (first, *_) = sizes_told(folder, {"radius": 0.5})
    assert "the wheel of 'front_left' has not the size" in first
    assert "expected: 0.5 m without load, to 10 %" in first
    assert "got: 0.3 m" in first


def sizes_told(folder, law):
    car(folder, name="sized", axles={"front": {"tyre": {"linear": law}}})
    return [str(fault) for fault in read(folder / "sized.yaml").faults if "size" in fault.what]


@pytest.mark.slow
def test_a_wheel_below_the_road_at_the_start_is_named_with_its_depth(folder):
    tag = {"x": -2.0, "track": 1.4, "hub_height": -0.6, "wheel": {"radius": 0.3, "spin_inertia": 1, "mass": 10}}
    struts = {name: {"suspension": {"strut": {"preload": 3500}}} for name in ("front", "rear")}
    tyre = {"tyre": {"linear": {"longitudinal_stiffness": 1e5, "cornering_stiffness": 5e4, "load": 4000}}}
    model = car(folder, name="deep", axles={**struts, "tag": {**tag, **tyre}})
    with pytest.raises(ModelError, match="wrong side of a contact") as caught:
        ts.simulate(model, scenario=ts.scenario("turn"))
    assert "tag_left by 0.4" in (caught.value.got or "")
    assert "that of chassis or hubs" in (caught.value.remedy or "")


def test_a_run_ends_where_a_vehicle_turns_over(vehicle, folder):
    free, planar = (applied(each, "turn") for each in (vehicle, ts.load(DATA / "single_track.yaml")))
    assert "ends_overturned" in free.blocks
    assert ("ends_overturned", True) in [(c.event, c.stop) for c in free.changes]
    assert "ends_overturned" not in planar.blocks


@pytest.mark.slow
def test_a_vehicle_that_is_too_tall_for_a_turn_turns_over_and_is_told_when(tmp_path):
    tall = car(tmp_path, chassis={"height": 1.3}, axles={"front": {"track": 1.1}, "rear": {"track": 1.1}})
    run = ts.simulate(tall, scenario=ts.scenario("turn", speed=18.0, amplitude=0.1))
    told = run.indicators["overturned"]
    assert abs(run["roll"][-1]) == pytest.approx(1.3, abs=1e-6)
    assert told.value == 1.0
    assert told.at == run.time[-1]
    assert told.fails
    assert f"turns over at {run.time[-1]:.4g} s" in told.said
    assert run.audit().holds


@pytest.mark.slow
@pytest.mark.parametrize(("slope", "bank"), [(0.1, 0.0), (-0.08, 0.05)])
def test_a_vehicle_starts_flat_on_a_road_that_is_a_plane(tmp_path, slope, bank):
    """All wheels press on it at once, and it rolls downhill."""
    made = car(tmp_path, road={"plane": {"slope": slope, "bank": bank}})
    chosen = ts.scenario("straight_braking", speed=10.0, begin=0.1)
    start = chosen.applied(Study(model=made)).start
    lean = math.sqrt(1.0 + slope**2 + bank**2)
    assert math.tan(start["pitch"]) == pytest.approx(-slope)
    assert math.sin(start["roll"]) == pytest.approx(bank / lean, abs=1e-15)
    assert start["z"] == pytest.approx(0.5 * lean, rel=1e-12)
    run = ts.simulate(made, scenario=chosen, until=0.1, every=0.01)
    carried = sum(run[f"{wheel}_Fz"][0] for wheel in ("front_left", "front_right", "rear_left", "rear_right"))
    assert carried == pytest.approx(1400 * 9.81 + 80 * 9.81 / lean, rel=1e-5)  # springs press as on the level
    wheels = 4 * 0.8 / 0.3**2
    assert run["dvx"][5] == pytest.approx(-9.81 * slope / math.hypot(1, slope) * 1480 / (1480 + wheels), rel=0.02)
    assert run.indicators["lifted_wheels"].value == 0.0


def test_over_a_road_that_is_no_plane_a_vehicle_starts_just_above_it(tmp_path):
    made = car(tmp_path, road={"sine": {"amplitude": 0.05, "length": 4.0, "phase": 0.3}})
    study = ts.scenario("turn").applied(Study(model=made))
    layout = Layout(made)
    for wheel in layout.own_wheels:
        x, y, z = wheel.place
        slope = -math.tan(study.start["pitch"])
        bottom = study.start["z"] + slope * x + z - 0.3
        assert bottom > layout.scalar(made.roads["road"].height, x=x, y=y)
    assert study.start["z"] < 0.5 + 0.06
    assert "z" not in ts.scenario("bumps").applied(Study(model=made)).start  # whose own road begins level
