"""Figures and pictures of vehicles: every wheel, units, the road they drive on, the forces of their tyres."""

import numpy as np
import pytest

import torseur as ts
from support.vehicles import car
from torseur.errors import ArgumentError
from torseur.views.overview import draw_overview
from torseur.views.plots import figures_to_draw
from torseur.views.plots.vehicle import key_panels
from torseur.views.scene.animation import scene_of
from torseur.views.scene.wheels_on_roads import ASPHALT, SLIPPERY

pytestmark = pytest.mark.slow
WHEELS = [f"{axle}_{side}" for axle in ("front", "rear") for side in ("left", "right")]
HEIGHT = 0.05


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A car that brakes and turns over a wave, on ice to the left."""
    road = {"height": f"{HEIGHT}*sin(x)^2", "adherence": "if(y > 0.5, 0.2, 1)"}
    made = car(tmp_path_factory.mktemp("car"), road=road)
    start = {"vx": 5.0, "x": 0.1, **{f"dspin_{wheel}": 5.0 / 0.3 for wheel in WHEELS}}
    return ts.simulate(
        made,
        until=0.6,
        every=0.02,
        start=start,
        guess={"z": 0.55},
        inputs={"steering": "0.1*sin(t)", "brake_torque": 300.0},
        solver={"method": "rodas", "rtol": 1e-5, "atol": 1e-7},
    )


def test_the_figure_of_a_vehicle_shows_every_wheel_and_names_units(run, tmp_path):
    figure = run.plot("vehicle", path=tmp_path / "vehicle.png")
    labels = [ax.get_ylabel() for ax in figure.axes]
    for what in ("y (m)", "forward speed (m/s)", "acceleration (m/s²)", "yaw rate (deg/s)", "roll and pitch (deg)"):
        assert what in labels
    for what in ("vertical load (kN)", "longitudinal slip (%)", "side slip angle (deg)", "lateral force (kN)"):
        assert len(figure.axes[labels.index(what)].lines) == len(WHEELS)
    assert "friction used" in labels
    assert len(set(labels)) == len(labels)
    assert all(np.abs(ax.lines[0].get_ydata()).max() > 0 or len(ax.lines) > 1 for ax in figure.axes)
    loads = figure.axes[labels.index("vertical load (kN)")]
    np.testing.assert_allclose(loads.lines[0].get_ydata(), 1e-3 * run["front_left_Fz"])
    assert (tmp_path / "vehicle.png").stat().st_size
    assert next(iter(figures_to_draw(run))) == "vehicle"


def test_the_overview_of_a_vehicle_shows_what_one_looks_at_first(run):
    labels = [panel.label for panel in key_panels(run)]
    assert labels[:2] == ["acceleration (m/s²)", "yaw rate (deg/s)"]
    assert [ax.get_ylabel().replace("\n", " ") for ax in draw_overview(run).subfigs[1].axes] == labels[:3]


@pytest.mark.parametrize(("share", "is_shown"), [(0.999, True), (1.001, False)])
def test_a_panel_of_next_to_nothing_is_left_out(run, monkeypatch, share, is_shown):
    [yaw] = [panel for panel in key_panels(run) if panel.label == "yaw rate (deg/s)"]
    largest = max(np.abs(line.values).max() for line in yaw.lines)
    monkeypatch.setattr("torseur.views.plots.vehicle.NOTHING", share * largest)
    assert any(panel.label == yaw.label for panel in key_panels(run)) == is_shown


def test_other_machines_have_no_such_figure():
    pendulum = ts.simulate(ts.load("examples/double_pendulum/double_pendulum.yaml"), until=0.1)
    assert "vehicle" not in figures_to_draw(pendulum)
    with pytest.raises(ArgumentError, match="not the run of a vehicle"):
        pendulum.plot("vehicle")


def test_the_road_is_drawn_where_wheels_come_with_its_height_and_adherence(run):
    road = scene_of(run, fps=10).road
    assert {part.colour for part in road} == {*ASPHALT, *SLIPPERY}
    for part in road:
        x, y, z = part.triangles.corners.T
        np.testing.assert_allclose(z, HEIGHT * np.sin(x) ** 2, atol=1e-12)
        a, b, c = (part.triangles.corners[part.triangles.faces[:, k]] for k in range(3))
        assert (np.cross(b - a, c - a)[:, 2] > 0).all()  # seen from above
        assert y.min() < 0.6 if part.colour in ASPHALT else y.max() > 0.4
    corners = np.concatenate([part.triangles.corners for part in road])
    assert corners[:, 0].min() < run["x"].min() - 3.0
    assert corners[:, 0].max() > run["x"].max() + 3.0


def test_arrows_stand_beside_the_contacts_and_are_as_long_as_the_forces(run):
    arrows = {arrow.name: arrow for arrow in scene_of(run, fps=10, pace=1.0).animation.arrows}
    assert set(arrows) == {f"{wheel}_{what}" for wheel in WHEELS for what in ("load", "force")}
    seen = run.resampled(np.linspace(0.0, 0.6, 7))
    most = int(np.argmax(seen["front_left_Fz"]))  # it starts in the air
    first = arrows["front_left_load"]
    scale = np.linalg.norm(first.tips[most] - first.feet[most]) / seen["front_left_Fz"][most]
    for wheel in WHEELS:
        load, force = arrows[f"{wheel}_load"], arrows[f"{wheel}_force"]
        x, _, z = load.feet.T
        touches = seen[f"{wheel}_Fz"] > 0.0
        np.testing.assert_allclose(z[touches], HEIGHT * np.sin(x[touches]) ** 2, atol=0.01)
        height = np.linalg.norm(load.tips - load.feet, axis=1)
        np.testing.assert_allclose(height, scale * seen[f"{wheel}_Fz"], rtol=1e-9, atol=1e-9)
        along, slip = (
            np.linalg.norm(force.tips - force.feet, axis=1),
            np.hypot(seen[f"{wheel}_Fx"], seen[f"{wheel}_Fy"]),
        )
        np.testing.assert_allclose(along, scale * slip, rtol=1e-9, atol=1e-9)
        assert np.abs(np.sum((force.tips - force.feet) * (load.tips - load.feet), axis=1)).max() < 1e-4
