"""Figures of runs: every line is there, in its unit, under its name."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb

from torseur.describe import Mechanism
from torseur.errors import ArgumentError
from torseur.identification.identification import Prediction
from torseur.simulation.results.channels import Audit, Channel, Event, Role
from torseur.simulation.results.result import Run
from torseur.views.identification import prediction
from torseur.views.plots import Beside, plot, plot_paths, save_figures, usual_figures
from torseur.views.plots.figures import LEAST, _columns, _worth_seeing
from torseur.views.plots.panels import _apart, continuous_angles, lines_of, panels_by_unit
from torseur.views.plots.sharing import FLAT, MOST_LINES, PEAK, START, WIDENED, Curve, seen_range, shared_out
from torseur.views.plots.style import COLOURS, PIECE, draw_line, name_label, new_figure, text_label
from torseur.views.values import frame_poses

CRANE = Mechanism(
    name="crane",
    bodies={
        "trolley": {"joint": {"kind": "prismatic", "coordinate": "x1"}, "place": {"mdh": {"alpha": "pi/2"}}},
        "boom": {
            "parent": "trolley",
            "joint": {"kind": "revolute", "coordinate": "theta"},
            "frames": {"hook": {"place": {"pose": {"position": (2.0, 0.0, 0.0)}}}},
        },
    },
    inputs={"winch": {"unit": "N m"}},
)
TIME = np.linspace(0.0, 2.0, 41)


def crane_run(shift: float = 0.0, **more) -> Run:
    q = np.stack([np.sin(TIME + shift), TIME**2], axis=1)
    v = np.stack([np.cos(TIME + shift), 2.0 * TIME], axis=1)
    a = np.stack([-np.sin(TIME + shift), 2.0 + 0.0 * TIME], axis=1)
    channels = [
        Channel("kinetic_energy", "J", "kinetic energy", TIME + 1.0, Role.ENERGY),
        Channel("pull", "N", "force of the rope", np.outer(TIME, [1.0, 2.0, 3.0]), Role.FORCE),
    ]
    error = Channel("energy", "J", "error of the energy balance", 1e-9 * TIME, Role.AUDIT)
    audit = Audit("energy holds", True, (error,))
    return Run.from_arrays(CRANE, TIME, q, v, a, inputs=np.ones((41, 1)), channels=channels, audited=audit, **more)


def drawn(axes) -> list[np.ndarray]:
    return [line.get_ydata() for line in axes.get_lines()]


def texts(figure) -> list[str]:
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def test_each_panel_has_one_unit_and_every_channel_is_drawn():
    figure = plot(crane_run())
    labels = [axes.get_ylabel() for axes in figure.axes]
    expected = ["position (m)", "angle (rad)", "speed (m/s)", "angular speed (rad/s)", "torque (N·m)", "energy (J)"]
    assert labels == expected
    np.testing.assert_array_equal(drawn(figure.axes[1])[0], TIME**2)
    assert figure.axes[-1].get_xlabel() == "time (s)"


def test_rates_are_labelled_with_dots_and_words_as_words():
    labels = texts(plot(crane_run()))
    assert labels == ["$x_{1}$", r"$\theta$", r"$\dot{x}_{1}$", r"$\dot{\theta}$", "winch", "kinetic energy"]
    assert name_label(crane_run(), "ddtheta") == r"$\ddot{\theta}$"


@pytest.mark.parametrize(
    ("name", "in_figures", "in_text"),
    [
        ("th1", r"$\dot{\theta}_{1}$", "θ̇₁"),
        ("theta_2", r"$\dot{\theta}_{2}$", "θ̇₂"),
        ("q12", r"$\dot{q}_{12}$", "q̇₁₂"),
        ("phi", r"$\dot{\phi}$", "φ̇"),
        ("psi_front", r"$\dot{\psi}_{\mathrm{front}}$", "ψ̇ front"),
        ("lambda_rear_left_toe_x", r"$\dot{\lambda}$ rear left toe x", "λ̇ rear left toe x"),
        ("lift_height", r"$\mathrm{d}($lift height$)/\mathrm{d}t$", "d(lift height)/dt"),
    ],
)
def test_the_rate_of_a_symbol_has_a_dot_and_that_of_words_a_fraction(name, in_figures, in_text):
    channels = [Channel(name, "rad", "", TIME, Role.COORDINATE), Channel(f"d{name}", "rad/s", "", TIME, Role.SPEED)]
    run = dataclasses.replace(crane_run(), channels={x.name: x for x in channels})
    assert (name_label(run, f"d{name}"), text_label(run, f"d{name}")) == (in_figures, in_text)


def test_named_channels_are_drawn_alone_and_vectors_by_components():
    figure = plot(crane_run(), "pull")
    assert len(figure.axes) == 1
    assert sorted(texts(figure)) == ["pull x", "pull y", "pull z"]
    assert [line[-1] for line in drawn(figure.axes[0])] == [2.0, 4.0, 6.0]


def test_what_is_zero_all_the_time_is_not_drawn_unless_it_is_named():
    run = crane_run()
    still = dataclasses.replace(
        run, channels={**run.channels, "winch": Channel("winch", "N m", "", 0 * TIME, Role.INPUT)}
    )
    assert "torque (N·m)" not in [axes.get_ylabel() for axes in plot(still).axes]
    assert "inputs" in usual_figures(run)
    assert not any(ax.get_ylabel() == "torque (N·m)" for f in usual_figures(still).values() for ax in f.axes)
    assert plot(still, "winch").axes[0].get_ylabel() == "torque (N·m)"


def test_a_panel_of_zeros_beside_others_of_its_unit_is_left_out_unless_its_channels_are_named():
    moments = {f"M{k}": 200.0 + TIME if k == "z" else 0.0 * TIME for k in "xyz"}
    run = Run(None, TIME, {n: Channel(n, "N m", "", values, Role.OUTPUT) for n, values in moments.items()})
    assert [sorted(texts(ax.figure)) for ax in usual_figures(run)["outputs"].axes] == [["Mz"]]
    assert len(plot(run, "Mx", "My", "Mz").axes) == 2


def test_a_potential_energy_that_is_zero_is_not_drawn():
    free = Channel("potential_energy", "J", "", 0.0 * TIME, Role.ENERGY)
    run = crane_run()
    run = dataclasses.replace(run, channels={**run.channels, free.name: free})
    assert texts(usual_figures(run)["energies"]) == ["kinetic energy"]
    assert "potential energy" not in texts(plot(run))


@pytest.mark.parametrize(("size", "is_drawn"), [(1e-31, False), (1e-6, True)])
def test_rounding_errors_have_no_panel_but_small_motions_do(size, is_drawn):
    speeds = {"vx": -1.5 - 0.05 * TIME, "vy": size * np.sin(20.0 * TIME)}
    run = Run(None, TIME, {n: Channel(n, "m/s", "", values, Role.SPEED) for n, values in speeds.items()})
    assert ("$v_y$" in texts(usual_figures(run)["speeds"])) is is_drawn


def test_an_axis_of_quaternions_says_so():
    top = Mechanism(name="top", bodies={"top": {"joint": {"kind": "spherical"}, "inertia": {"mass": 1.0}}})
    channels = [
        Channel(x.name, x.unit, x.meaning, 1.0 / (1.0 + k + TIME), Role.COORDINATE) for k, x in enumerate(top.q)
    ]
    assert len(channels) == 4
    run = Run(None, TIME, {c.name: c for c in channels})
    assert {panel.label for panel in panels_by_unit(lines_of(run, channels))} == {"unit quaternion"}


def test_many_lines_of_one_unit_are_shared_out():
    channels = [Channel(f"c{k}", "V", "", TIME * (k + 9)) for k in range(2 * MOST_LINES + 1)]
    run = Run(None, TIME, {c.name: c for c in channels})
    panels = panels_by_unit(lines_of(run, channels))
    assert [len(panel.lines) for panel in panels] == [6, 6, 5]
    for panel in panels:
        assert len({line.colour for line in panel.lines}) == len(panel.lines)


@pytest.mark.parametrize(("small", "panels"), [(1.02 / FLAT, 1), (0.98 / FLAT, 2)])
def test_a_line_that_would_look_flat_beside_a_larger_one_has_a_panel_of_its_own(small, panels):
    assert len(shared_out([Curve("large", 0.0, 1.0), Curve("small", 0.0, small)])) == panels


def test_lines_far_apart_are_not_drawn_flat_in_one_panel():
    assert shared_out([Curve("ahead", 14.8, 15.0), Curve("aside", 0.0, 0.1)]) == [["ahead"], ["aside"]]
    assert shared_out([Curve("ahead", 0.0, 15.0), Curve("still", 0.0, 0.0)]) == [["ahead", "still"]]


@pytest.mark.parametrize(("far", "panels"), [(WIDENED * 0.99, 1), (WIDENED * 1.01, 2)])
def test_a_constant_far_away_does_not_flatten_what_varies(far, panels):
    assert len(shared_out([Curve("swings", 0.0, 1.0), Curve("stays", far, far)])) == panels


def test_small_angles_beside_a_wheel_that_turns_have_a_panel_of_their_own():
    assert shared_out([Curve("spin", 0.0, 400.0), Curve("pitch", -4e-5, 4e-5)]) == [["spin"], ["pitch"]]


def test_rounding_noise_has_no_panel_of_its_own():
    assert shared_out([Curve("spin", 0.0, 100.0), Curve("roll", -1e-9, 1e-9)]) == [["spin", "roll"]]


def test_lines_of_one_kind_stay_together_when_a_panel_is_divided():
    labels = [f"{wheel} {kind}" for wheel in ("fl", "fr", "rl", "rr") for kind in ("alpha", "camber", "steer")]
    parts = shared_out([Curve(label, 0.0, 1.0) for label in labels])
    assert [{label.split()[-1] for label in part} for part in parts] == [{"alpha", "camber"}, {"steer"}]
    assert sorted(label for part in parts for label in part) == sorted(labels)
    many = shared_out([Curve(f"{k} load", 0.0, 1.0) for k in range(20)])
    assert sorted(map(len, many)) == [4, 8, 8] or max(map(len, many)) <= MOST_LINES


@pytest.mark.parametrize(("height", "is_written"), [(PEAK[0] * 1.1, True), (PEAK[0] * 0.9, False), (2e3, False)])
def test_a_transient_of_the_start_is_written_beside_what_follows(height, is_written):
    time = np.linspace(0.0, 10.0, 1001)
    values = np.where(time < 0.5 * START * 10.0, height, 0.5 + 0.5 * np.sin(time * 5.0))
    high = seen_range([(time, values)])[1]
    assert (high < 1.001) is is_written
    run = Run(None, time, {"f": Channel("f", "N", "", values)})
    axes = plot(run, "f").axes[0]
    assert any("at the start" in text.get_text() for text in axes.texts) is is_written
    assert bool(axes.get_ylim()[1] < height) is is_written


def test_a_peak_later_on_is_always_shown():
    time = np.linspace(0.0, 10.0, 1001)
    values = np.where(np.abs(time - 5.0) < 0.05, 100.0, np.sin(time))
    assert seen_range([(time, values)])[1] == 100.0


def test_labels_stay_beside_their_panel():
    assert _apart(np.zeros(5), 0.1).min() == 0.0
    assert _apart(np.ones(5), 0.1).max() == pytest.approx(1.0)
    assert np.diff(_apart(np.array([0.0, 0.02, 0.04, 0.9, 1.0]), 0.2)).min() >= 0.2 - 1e-12


def test_roll_pitch_and_yaw_go_on_smoothly_beyond_a_right_angle():
    turning = np.linspace(0.0, 3.0 * np.pi, 200)  # about y
    folded = np.arcsin(np.sin(turning))
    flipped = np.where(np.cos(turning) < 0.0, np.pi, 0.0)
    found = continuous_angles(np.stack([flipped, folded, -flipped], axis=1))
    np.testing.assert_allclose(found, np.stack([0 * turning, turning, 0 * turning], axis=1), atol=1e-9)
    channels = [Channel(f"end_{n}", "rad", "", y, Role.OUTPUT) for n, y in
                (("roll", flipped), ("pitch", folded), ("yaw", -flipped))]  # fmt: skip
    run = Run(None, turning, {c.name: c for c in channels})
    drawn_lines = {line.label: line.values for line in lines_of(run, channels)}
    np.testing.assert_allclose(drawn_lines["end pitch"], turning, atol=1e-9)


def test_another_run_is_drawn_in_the_same_colours_with_a_key():
    figure = plot(crane_run(), "x1", beside=[Beside(crane_run(0.3), "later")])
    first, second = figure.axes[0].get_lines()
    np.testing.assert_array_equal(second.get_ydata(), np.sin(TIME + 0.3))
    assert first.get_color() == second.get_color()
    assert first.get_linestyle() != second.get_linestyle()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["crane", "later"]


def test_the_key_of_runs_stays_clear_of_a_long_title():
    figure = plot(crane_run(), "x1", beside=[Beside(crane_run(0.3), "later")], title="a long title " * 6)
    figure.draw_without_rendering()
    boxes = [artist.get_window_extent() for artist in (figure._suptitle, figure.legends[0])]
    assert not boxes[0].overlaps(boxes[1])


def test_labels_that_would_overlap_are_pushed_apart():
    channels = {f"c{k}": Channel(f"c{k}", "V", "", TIME) for k in range(5)}
    figure = plot(Run(None, TIME, channels), *channels)
    places = sorted(text.xy[1] for text in figure.axes[0].texts)
    assert min(np.diff(places)) > 0.05


def test_names_of_events_do_not_stand_on_each_other_nor_beyond_the_axis():
    what = "slides the other way"
    run = crane_run(events=tuple(Event(t, "x1", what) for t in (0.2, 0.24, 1.0, 1.98)))
    names = [text for text in plot(run).axes[0].texts if text.get_text() == what]
    assert [(text.xy[0], text.get_ha()) for text in names] == [(0.2, "left"), (1.0, "left"), (1.98, "right")]


def test_events_are_marked_and_an_early_end_is_told():
    run = crane_run(events=(Event(0.5, "x1", "end stop"),), complete=False, reason="not a number")
    figure = plot(run)
    assert "end stop" in texts(figure)
    assert "stopped at 2 s: not a number" in figure.get_suptitle()


def test_a_constant_is_not_magnified_into_noise():
    noisy = Channel("level", "V", "", 5.0 + 1e-15 * np.sin(40 * TIME))
    low, high = plot(Run(None, TIME, {"level": noisy}), "level").axes[0].get_ylim()
    assert high - low > 0.5


def test_the_usual_figures_are_all_there(tmp_path):
    folder = tmp_path / "made" / "on the way"
    written = save_figures(crane_run(), folder, endings=(".svg",))
    names = ["coordinates", "speeds", "accelerations", "inputs", "forces", "energies", "audit", "paths"]
    assert list(written) == [f"{name}.svg" for name in names]
    assert all(file.stat().st_size > 2000 for file in written.values())
    assert sorted(file.name for file in folder.iterdir()) == sorted(written)


@pytest.mark.parametrize(("ending", "magic"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")])
def test_the_same_run_gives_the_same_file(tmp_path, ending, magic):
    for name in ("a", "b"):
        crane_run().plot("theta", path=tmp_path / f"{name}{ending}")
    data = (tmp_path / f"a{ending}").read_bytes()
    assert data.startswith(magic)
    assert data == (tmp_path / f"b{ending}").read_bytes()


def test_paths_are_where_the_model_puts_the_frame():
    run = crane_run()
    figure = plot_paths(run, ["hook"])
    poses = frame_poses(run, "hook")
    np.testing.assert_allclose(np.linalg.norm(poses[:, :3, 3], axis=1), np.hypot(2.0, run["x1"]))
    line = figure.axes[0].get_lines()[0]
    views = {"x (m)": 0, "y (m)": 1, "z (m)": 2}
    i, j = views[figure.axes[0].get_xlabel()], views[figure.axes[0].get_ylabel()]
    np.testing.assert_array_equal(np.stack(line.get_data()), poses[:, [i, j], 3].T)


def test_a_planar_motion_is_drawn_in_its_plane_alone():
    run = crane_run()
    still = np.stack([0.0 * TIME, TIME], axis=1)
    flat = Run.from_arrays(CRANE, TIME, still, 0.0 * still)
    assert len(plot_paths(run, ["hook"]).axes) == 3
    assert [axes.get_title("left") for axes in plot_paths(flat, ["hook"]).axes] == ["seen from the side"]


@pytest.mark.parametrize(("rise", "views"), [(1.05 * LEAST, 3), (0.95 * LEAST, 1)])
def test_a_plane_in_which_a_path_would_be_a_line_is_not_drawn(rise, views):
    assert len(_worth_seeing(np.array([[0.0, 0.0, 0.0], [1.0, 1.0, rise]]))) == views


@pytest.mark.parametrize(("aside", "is_stretched"), [(12.0, False), (8.0, True), (0.05, False)])
def test_a_long_narrow_path_has_a_scale_of_its_own_across(aside, is_stretched):
    q = np.stack([50.0 * TIME, aside * TIME / TIME[-1], 0.0 * TIME], axis=1)
    cart = Mechanism(name="cart", base={"kind": "planar", "inertia": {"mass": 1.0}})
    axes = plot_paths(Run.from_arrays(cart, TIME, q, 0.0 * q), ["base"]).axes[0]
    assert ("stretched" in axes.get_title("left")) is is_stretched
    assert (axes.get_aspect() == "auto") is is_stretched


def test_a_body_that_stays_in_place_has_no_figure_of_its_path():
    run = crane_run()
    still = Run.from_arrays(CRANE, TIME, 0.0 * run.q, 0.0 * run.q)
    assert "paths" in usual_figures(run)
    assert "paths" not in usual_figures(still)


def test_the_key_of_paths_is_no_wider_than_the_figure():
    names = ["origin of the rear left wheel carrier"] * 4
    assert _columns(names, 6.7) == 2
    assert _columns(["tool"], 3.2) == 1


def test_the_style_of_the_user_is_left_alone(tmp_path):
    import matplotlib

    before = dict(matplotlib.rcParams)
    crane_run().plot(path=tmp_path / "a.png")
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: plot(crane_run(), "tetha"), "theta"),
        (lambda: plot(crane_run(), path="a.bmp"), "not written in this format"),
        (lambda: plot(Run(None, TIME, {"a": Channel("a", "", "", TIME)})), "nothing to draw"),
        (lambda: plot_paths(Run(None, TIME, {}), ["hook"]), "has no mechanism"),
        (lambda: plot_paths(crane_run(), []), "1 to 8 frames"),
    ],
)
def test_what_cannot_be_drawn_is_refused(act, message):
    with pytest.raises(ArgumentError, match=message):
        act()


# -- lines of many points ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [1001, PIECE, PIECE + 1, 2 * PIECE - 1, 3 * PIECE])
def test_a_line_is_drawn_through_all_its_points(count):
    axes = new_figure(2.0).subplots()
    x = np.arange(count, dtype=float)
    draw_line(axes, x, -x)
    pairs = [(a, b) for line in axes.get_lines() for a, b in pairwise(line.get_xdata())]
    assert pairs == list(pairwise(x))
    assert max(len(line.get_xdata()) for line in axes.get_lines()) <= PIECE  # more are slow, or too many to draw
    assert all(np.array_equal(line.get_ydata(), -line.get_xdata()) for line in axes.get_lines())


@pytest.mark.parametrize("k", [500, 1000, PIECE - 2, PIECE - 1, PIECE])
def test_no_piece_of_a_curve_is_missing_in_the_picture(k, tmp_path):
    """All points are at both ends but for one long way from point k to the next."""
    count = max(1001, k + 2)
    time = np.where(np.arange(count) <= k, 0.0, 1.0) + 1e-6 * np.arange(count)
    run = Run.from_arrays(CRANE, time, np.zeros((count, 2)), np.zeros((count, 2)))
    plot(run, "x1", path=tmp_path / "line.png")
    pixels = pyplot.imread(tmp_path / "line.png")[:, :, :3]
    blue = (np.abs(pixels - to_rgb(COLOURS[0])) < 0.02).all(axis=2).any(axis=0)
    assert blue[len(blue) // 5 : 4 * len(blue) // 5].all()


def test_a_line_along_another_is_dashed_and_one_apart_is_not():
    run = crane_run()
    one, far = np.sin(TIME), np.cos(TIME)
    channels = [Channel(n, "A", "", x, Role.OUTPUT) for n, x in (("a", one), ("b", one + 1e-6), ("c", far))]
    [panel] = panels_by_unit(lines_of(run, channels))
    assert [line.dashes == "-" for line in panel.lines] == [True, False, True]


def test_an_angle_is_drawn_without_jumps_by_a_turn():
    run, course = crane_run(), 9.0 * TIME
    wrapped = Channel("heading", "rad", "", np.arctan2(np.sin(course), np.cos(course)), Role.OUTPUT)
    [line] = lines_of(run, [wrapped])
    np.testing.assert_allclose(line.values, course, atol=1e-9)
    [same] = lines_of(run, [Channel("turns", "rad", "", 20.0 * TIME, Role.COORDINATE)])
    np.testing.assert_array_equal(same.values, 20.0 * TIME)


def test_efforts_of_an_identification_have_units_and_dots():
    time, y = np.linspace(0.0, 1.0, 11), np.linspace(-1.0, 1.0, 11)[:, None]
    efforts = np.hstack([y, 9000.0 + y])
    shown = Prediction(
        ("dtheta1", "vz"), ("N m", "N"), (time,), (efforts,), (0.9 * efforts,), np.array([0.1, 0.1]), np.ones(2)
    )
    near, far = prediction(shown, "title").axes
    assert (near.get_ylabel(), far.get_ylabel(), far.get_xlabel()) == ("torque (N·m)", "force (N)", "time (s)")
    assert near.get_title("left") == r"$\dot{\theta}_{1}$: residual 10 %"
    assert (len(near.lines), len(far.lines)) == (3, 2)  # a difference near zero would flatten what is far from it
