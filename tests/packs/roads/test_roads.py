"""Roads by kind: their shapes, spectra and adherence, and what rigid wheels ask of them."""

import numpy as np
import pytest
from scipy.special import k1

import torseur as ts
from torseur.describe import Mechanism
from torseur.errors import ModelError
from torseur.packs.roads import (
    KINDS,
    Bumps,
    HeightMap,
    Iso8608,
    Patch,
    Plane,
    Profile,
    Sine,
    Steps,
    Sum,
)
from torseur.packs.roads.profiles import BAND, CLASSES, N0, enveloped, iso_8608_profiles

R = 0.3


def height(made, x, y=0.0):
    """The height of a road at places, as its formula gives it."""
    tables = {name: table.lookup for name, table in made.tables.items()}
    value = made.road.height
    if isinstance(value, float):
        return np.full_like(np.asarray(x, dtype=float), value)
    return np.array([value.value({"x": a, "y": y}, tables) for a in np.atleast_1d(x)])


def wheel(made, **contact):
    """A wheel of 2 kg that rolls over a road."""
    return Mechanism.model_validate(
        {
            "name": "wheel",
            "base": {
                "kind": "floating",
                "orientation": "rpy",
                "inertia": {"mass": 2.0, "tensor": {"xx": 0.05, "yy": 0.09, "zz": 0.05}},
            },
            "tables": dict(made.tables),
            "roads": {"road": made.road},
            "constraints": {
                "touch": {
                    "rolling": {"wheel": "base", "axle": "y", "radius": R, "road": "road", "slides": "freely"} | contact
                }
            },
        }
    )


# -- shapes ------------------------------------------------------------------------------------------------------------
def test_a_plane_rises_by_its_slope_and_its_bank():
    made = Plane(slope=0.1, bank=-0.05).made()
    assert height(made, [0.0, 10.0], 2.0).tolist() == pytest.approx([-0.1, 0.9])
    assert Plane().made().road.is_flat


def test_a_wave_has_its_amplitude_length_and_phase():
    x = np.linspace(-3, 3, 9)
    made = Sine(amplitude=0.02, length=2.5, phase=0.4).made()
    np.testing.assert_allclose(height(made, x), 0.02 * np.sin(2 * np.pi * x / 2.5 + 0.4), atol=1e-15)


@pytest.mark.parametrize("shape", ["smooth", "cosine"])
def test_a_bump_is_as_high_and_as_long_as_it_says_and_nothing_elsewhere(shape):
    bumps = [{"at": 2.0, "length": 0.5, "height": 0.05}, {"at": 5.0, "length": 1.0, "height": -0.1}]
    made = Bumps.model_validate({"bumps": bumps, "shape": shape}).made()
    assert height(made, [0.0, 2.0, 2.25, 2.5, 4.0, 5.5, 6.0, 9.0]).tolist() == pytest.approx(
        [0, 0, 0.05, 0, 0, -0.1, 0, 0], abs=1e-15
    )
    assert made.road.smooth == (shape == "smooth")


def test_a_bump_of_one_side_is_not_on_the_other():
    made = Bumps.model_validate({"bumps": [{"at": 2.0, "length": 0.5, "height": 0.05, "y_from": 0.0}]}).made()
    assert height(made, [2.25], 0.7) == pytest.approx([0.05])
    assert height(made, [2.25], -0.7) == pytest.approx([0.0])
    assert not made.road.smooth


@pytest.mark.parametrize(
    "made",
    [
        Bumps.model_validate({"bumps": [{"at": 1.0, "length": 0.5, "height": 0.05}]}).made(),
        Steps.model_validate({"steps": [{"at": 1.25, "height": 0.1}], "envelope": 0.5}).made(),
        pytest.param(Profile(x=(0.9, 1.0, 1.3, 1.7), z=(0.0, 0.1, -0.1, 0.2)).made(), marks=pytest.mark.slow),
        pytest.param(Profile(x=(1.0, 1.01), z=(0.0, 0.1), envelope=0.2).made(), marks=pytest.mark.slow),
    ],
)
def test_the_curvature_of_what_calls_itself_smooth_is_continuous(made):
    """Halving the step halves the largest difference of second differences between neighbours: nothing jumps."""
    assert made.road.smooth

    def largest(h):
        x = np.arange(0.8, 2.0, h)
        bent = np.diff(height(made, x), 2) / h**2
        return np.abs(np.diff(bent)).max()

    assert largest(5e-4) < 0.6 * largest(1e-3)


def test_an_envelope_of_a_sharp_step_is_the_smooth_one():
    x = np.array([0.0, 1.0 - 1e-9, 1.0 + 1e-9, 2.0])
    at, mean = enveloped(x, np.array([0.0, 0.0, 0.1, 0.1]), 0.4)
    wanted = height(Steps.model_validate({"steps": [{"at": 1.0, "height": 0.1}], "envelope": 0.4}).made(), at)
    np.testing.assert_allclose(mean, wanted, atol=5e-4)


def test_an_envelope_leaves_of_a_wave_the_share_of_its_closed_form():
    x = np.linspace(0.0, 10.0, 20_001)
    for wave in (2.0, 1.0, 0.5):
        at, mean = enveloped(x, np.sin(2 * np.pi * x / wave), 0.3)
        inside = (at > 1.0) & (at < 9.0)
        r = 0.3 / wave
        share = np.sin(np.pi * r) / (np.pi * r * (1 - r**2))
        np.testing.assert_allclose(mean[inside], share * np.sin(2 * np.pi * at[inside] / wave), atol=2e-5)


def test_a_sum_of_roads_adds_their_heights():
    road = Sum.model_validate({"of": [{"plane": {"slope": 0.1}}, {"profile": {"x": [0, 1, 2], "z": [0, 0.1, 0]}}]})
    assert height(road.made(), [1.0, 2.0]).tolist() == pytest.approx([0.2, 0.2])
    sharp = Sum.model_validate({"of": [{"plane": {"slope": 0.1}}, {"steps": {"steps": [{"at": 1, "height": 0.1}]}}]})
    assert not sharp.made().road.smooth


def test_a_profile_and_a_map_come_from_files_beside_the_vehicle(tmp_path):
    (tmp_path / "profile.csv").write_text("x,z\n0,0\n1,0.1\n2,0.05\n")
    assert height(Profile(file="profile.csv").made("road", tmp_path), [1.0, 5.0]) == pytest.approx([0.1, 0.05])
    (tmp_path / "map.csv").write_text("0,-1,1\n0,0,1\n10,2,5\n20,3,3\n")
    made = HeightMap(file="map.csv", scale=0.1).made("road", tmp_path)
    assert height(made, [0.0, 10.0, 20.0], 1.0) == pytest.approx([0.1, 0.5, 0.3])
    with pytest.raises(ModelError, match="without a folder"):
        HeightMap(file="map.csv").made()


# -- ISO 8608 ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("road_class", CLASSES)
def test_the_spectrum_of_a_random_road_is_that_of_its_class(road_class):
    length = 200.0
    made = Iso8608.model_validate({"class": road_class, "length": length, "seed": 3, "start": 0.0}).made()
    curve = made.tables["road_profile"].lookup
    x = np.linspace(0.0, length, 20_000, endpoint=False)
    z = np.interp(x, curve.axes[0], curve.rows[0])  # the points are ten times closer than the shortest wave
    n = np.fft.rfftfreq(x.size, length / x.size)
    density = 2.0 * np.abs(np.fft.rfft(z) / x.size) ** 2 * length
    inside = (n >= BAND[0]) & (n <= 1.0)
    wanted = 16e-6 * 4.0 ** "ABCDEFGH".index(road_class) * (n[inside] / 0.1) ** -2.0
    np.testing.assert_allclose(density[inside], wanted, rtol=0.01)
    outside = (n > BAND[1] + 0.01) & (n < 20.0)
    assert density[outside].max() < 1e-3 * density[inside].min()


def test_a_random_road_begins_and_ends_level_and_depends_on_its_seed_alone():
    def road(seed):
        return Iso8608.model_validate({"class": "C", "length": 50.0, "seed": seed, "start": 10.0}).made()

    x = np.array([0.0, 9.9, 30.0, 60.5, 100.0])
    first = height(road(1), x)
    assert first.tolist() == height(road(1), x).tolist()
    assert first[2] != height(road(2), x)[2]
    np.testing.assert_allclose(first[[0, 1, 3, 4]], 0.0, atol=1e-15)


def test_two_tracks_are_as_coherent_as_an_isotropic_surface_is():
    """The mean over many seeds of the cross spectrum over the spectrum."""
    length, b = 100.0, 1.5
    found = []
    for seed in range(400):
        _, z = iso_8608_profiles("C", length, seed, (b / 2, -b / 2))
        spectrum = np.fft.rfft(z[:, :-1], axis=1)[:, [2, 10, 30, 100]]
        found.append(np.real(spectrum[0] * np.conj(spectrum[1])) / np.abs(spectrum[0]) ** 2)
    n = np.array([2, 10, 30, 100]) / length
    np.testing.assert_allclose(np.mean(found, axis=0), 2 * np.pi * n * b * k1(2 * np.pi * n * b), atol=0.12)


def test_left_and_right_wheels_have_profiles_of_their_own():
    made = Iso8608.model_validate({"class": "D", "length": 60.0, "seed": 1, "track": 1.5}).made()
    x, z = iso_8608_profiles("D", 60.0, 1, (0.75, -0.75))
    some = slice(100, 900, 97)
    np.testing.assert_allclose(height(made, x[some], 0.75), z[0][some], atol=1e-14)
    np.testing.assert_allclose(height(made, x[some], -0.75), z[1][some], atol=1e-14)
    assert N0 == 0.1


def test_a_random_road_shorter_than_its_shortest_wave_is_refused():
    with pytest.raises(ModelError, match="without waves"):
        Iso8608.model_validate({"class": "A", "length": 0.2, "seed": 1}).made()


# -- adherence ---------------------------------------------------------------------------------------------------------
def test_the_last_patch_that_holds_counts():
    road = Plane(adherence=0.9, patches=(Patch(adherence=0.3, y_from=0.0), Patch(adherence=0.1, x_from=5.0, x_to=6.0)))
    grip = road.made().road.adherence
    places = [(0.0, 1.0), (0.0, -1.0), (5.5, -1.0), (5.5, 1.0), (6.0, -1.0)]
    assert [grip.value({"x": x, "y": y}) for x, y in places] == [0.3, 0.9, 0.1, 0.1, 0.9]


# -- rigid wheels ------------------------------------------------------------------------------------------------------
SHARP = {
    "abs(x)": "'abs'",
    "max(x, 0)": "'max'",
    "if(x > 1, 0.1, 0)": "'<|'if'",
    "floor(x)": "'floor'",
    "table(x, [0, 1, 2], [0, 0.1, 0])": "not smooth",
    "0.1*x*sign(y)": "'sign'",
}


@pytest.mark.parametrize("formula", SHARP)
def test_a_rigid_wheel_refuses_a_road_that_bends_sharply_and_says_why(formula):
    road = {"height": formula}
    made = Plane().made()
    sharp = type(made)(made.road.model_validate(road), {})
    with pytest.raises(ModelError, match=SHARP[formula]) as caught:
        ts.build(wheel(sharp)).closure(np.zeros(6))
    assert "envelope" in caught.value.remedy
    ts.build(wheel(sharp, stiffness=1e5))
    promised = type(made)(made.road.model_validate(road | {"smooth": True}), {})
    ts.build(wheel(promised)).closure(np.zeros(6))


@pytest.mark.parametrize("between", ["monotone", "smooth"])
def test_of_tables_only_smooth_ones_carry_a_rigid_wheel(between):
    table = Profile(x=(0, 1, 2, 3), z=(0, 0.1, 0.3, 0)).made().tables["road_profile"]
    made = Plane().made()
    road = type(made)(
        made.road.model_validate({"height": "table(x, bend)"}), {"bend": table.model_copy(update={"between": between})}
    )
    if between == "smooth":
        ts.build(wheel(road)).closure(np.zeros(6))
    else:
        with pytest.raises(ModelError, match="not smooth"):
            ts.build(wheel(road)).closure(np.zeros(6))


def test_parameters_of_a_road_may_be_of_any_function():
    made = Plane().made()
    road = type(made)(made.road.model_validate({"height": "abs(-0.1)*x + max(0, 1)"}), {})
    ts.build(wheel(road)).closure(np.zeros(6))


def test_every_kind_is_reached_by_its_name():
    assert all(kind.kind == name for name, kind in KINDS.items())
    assert set(KINDS) == {"plane", "sine", "bumps", "steps", "profile", "iso_8608", "height_map", "open_crg", "sum"}


# -- runs --------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_the_centre_of_a_wheel_on_a_wave_keeps_its_distance_to_it():
    amplitude, length = 0.02, 3.0
    made = Sine(amplitude=amplitude, length=length).made()
    run = ts.simulate(wheel(made), until=2.0, start={"z": R, "vx": 1.0})
    u = np.linspace(-1.0, 4.0, 200_001)
    road = amplitude * np.sin(2 * np.pi * u / length)
    bend = amplitude * (2 * np.pi / length) ** 2
    assert run["x"][-1] > 1.5
    for x, z in zip(run["x"][::100], run["z"][::100], strict=True):
        assert np.hypot(u - x, z - road).min() == pytest.approx(R, abs=2.0 * R * (R * bend) ** 2)
    assert run.audit().holds


@pytest.mark.slow
def test_a_wheel_jumps_over_a_bump_flies_freely_and_lands():
    made = Bumps.model_validate({"bumps": [{"at": 1.0, "length": 1.0, "height": 0.1}]}).made()
    run = ts.simulate(wheel(made, lifts=True), until=1.0, start={"z": R, "vx": 4.0})
    up = np.flatnonzero(run["lambda_touch_height"] == 0.0)
    assert up.size > 50
    flight = up[5:-5]
    assert np.diff(flight).max() == 1  # one jump
    np.testing.assert_allclose(run["dvz"][flight], -9.81, atol=1e-9)
    after = run["z"][up[-1] + 10 :]
    np.testing.assert_allclose(after, R, atol=1e-9)
    assert run["lambda_touch_height"][-1] == pytest.approx(2.0 * 9.81, rel=1e-9)
    assert run.audit().holds


def test_a_compliant_wheel_climbs_a_sharp_step():
    made = Steps.model_validate({"steps": [{"at": 1.0, "height": 0.003}]}).made()
    k = 2e4
    soft = wheel(made, stiffness=k, damping=0.2 * 2 * np.sqrt(2.0 * k))
    run = ts.simulate(soft, until=3.0, start={"z": R - 2.0 * 9.81 / k, "vx": 1.0})
    assert run["z"][-1] == pytest.approx(R + 0.003 - 2.0 * 9.81 / k, abs=1e-6)
    assert run.audit().holds


@pytest.mark.slow
def test_a_rigid_wheel_rolls_over_a_random_road():
    made = Iso8608.model_validate({"class": "A", "length": 10.0, "seed": 2, "envelope": 0.2}).made()
    run = ts.simulate(wheel(made), until=1.0, start={"x": -0.5, "z": R, "vx": 4.0})
    gap = [ts.build(wheel(made)).closure(q)[0] for q in run.q[::100]]
    assert np.abs(gap).max() < 1e-9
    assert np.ptp(run["z"]) > 1e-4
    assert run.audit().holds
