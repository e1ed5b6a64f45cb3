"""Mechanisms in space: solids are closed and the right way out, parts ride on their bodies, pictures show them."""

import dataclasses
import json
import math
import re
import subprocess

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.example_files import EXAMPLES
from torseur.describe import Mechanism, SpringDamper
from torseur.errors import ArgumentError, TorseurWarning
from torseur.formats import load
from torseur.simulation.results.channels import Channel, Role
from torseur.simulation.results.result import Run
from torseur.views.scene import Arrow, snapshot
from torseur.views.scene.animation import Camera, animation_of, camera_of, quaternion_of, round_length, scene_of
from torseur.views.scene.browser import page_with_curves
from torseur.views.scene.drawing import drawing_of, start_of
from torseur.views.scene.parts import arrow, ball, box, cone, cylinder, joined, pointing, tyre
from torseur.views.scene.snapshot import Canvas, picture
from torseur.views.scene.viser_stage import _unit
from torseur.views.values import frame_poses

TIME = np.linspace(0.0, 2.0, 101)


def volume(shape) -> float:
    """By the theorem of Gauss: right only if the surface is closed and every triangle faces outwards."""
    a, b, c = (shape.corners[shape.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def pendulum_run(time=TIME) -> Run:
    mechanism = load(EXAMPLES / "double_pendulum" / "double_pendulum.yaml")
    q = np.stack([2.0 * np.cos(3.0 * time), np.sin(time)], axis=1)
    force = Channel("pull", "N", "", np.outer(np.ones_like(time), [0.0, 0.0, 30.0]), Role.FORCE)
    return Run.from_arrays(mechanism, time, q, np.zeros_like(q), channels=[force])


def still_run(mechanism: Mechanism) -> Run:
    start = start_of(mechanism)
    q = np.array([[start[x.name] for x in mechanism.q]])
    return Run.from_arrays(mechanism, [0.0], q, np.zeros((1, len(mechanism.v))))


# -- solids ------------------------------------------------------------------------------------------------------------

POLYGON = 16 * math.sin(2 * math.pi / 32) / math.pi  # area of 32 corners on a circle, as a share of the disc


@pytest.mark.parametrize(
    ("shape", "expected", "error"),
    [
        (box((1.0, 2.0, 3.0)), 6.0, 1e-12),
        (cylinder(0.5, 2.0), POLYGON * math.pi * 0.25 * 2.0, 1e-12),
        (cone(0.5, 3.0), POLYGON * math.pi * 0.25, 1e-12),
        (ball(1.5), 4.0 / 3.0 * math.pi * 1.5**3, 0.02),
        (box((1.0, 2.0, 3.0)).scaled((-1.0, 2.0, 1.0)), 12.0, 1e-12),
        (joined([box((1.0, 1.0, 1.0)), box((2.0, 1.0, 1.0)).moved(pointing([5, 0, 0], [6, 1, 0]))]), 3.0, 1e-12),
    ],
)
def test_a_solid_has_its_volume(shape, expected, error):
    assert volume(shape) == pytest.approx(expected, rel=error)


@pytest.mark.parametrize("shape", [tyre(0.4, 0.2), arrow(1.0, 0.05)])
def test_every_edge_of_a_round_solid_joins_two_triangles(shape):
    places = np.unique(np.round(shape.corners, 9), axis=0, return_inverse=True)[1].ravel()
    faces = places[shape.faces]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    forth, back = sorted(map(tuple, edges)), sorted(map(tuple, edges[:, ::-1]))
    assert forth == back
    assert volume(shape) > 0.0


@pytest.mark.parametrize(("length", "expected"), [(0.13, 0.2), (1.0, 1.0), (3.0, 5.0), (70.0, 100.0)])
def test_a_grid_has_round_cells(length, expected):
    assert round_length(length) == pytest.approx(expected)


# -- what is drawn -----------------------------------------------------------------------------------------------------


def test_shapes_ride_on_their_bodies():
    run = pendulum_run()
    scene = scene_of(run)
    bobs = [part for part in scene.drawing.parts if np.ptp(part.triangles.corners[:, 1]) == pytest.approx(0.16)]
    for part in bobs:
        for k in (0, 17, len(scene.animation.times) - 1):
            moved = part.triangles.moved(scene.animation.pose(part.body, k))
            middle = (moved.corners.max(axis=0) + moved.corners.min(axis=0)) / 2
            pose = frame_poses(run.resampled([scene.animation.times[k]]), part.body)[0]
            np.testing.assert_allclose(middle, pose[:3, 3] + pose[:3, 0], atol=1e-9)  # rods of 1 m along x
    assert len(bobs) == 2


def test_a_mechanism_without_shapes_is_drawn_as_bars_from_joint_to_joint():
    run = pendulum_run()
    drawing = scene_of(run, sticks=True).drawing
    upper = joined([part.triangles for part in drawing.parts if part.body == "upper"])
    assert upper.corners[:, 0].max() == pytest.approx(1.0, abs=0.05)
    assert {"upper", "lower"} <= set(drawing.bodies)
    lower = joined([part.triangles for part in drawing.parts if part.body == "lower"])
    assert lower.corners[:, 0].max() == pytest.approx(1.0, abs=0.1)  # to its centre of mass


@pytest.mark.parametrize(
    "name",
    ["four_bar", "car", "satellite_arm", "rolling_disc", "stanford", "welding_arm", "vehicle_11dof", "heavy_top"],
)
@pytest.mark.parametrize("sticks", [None, True])
def test_every_example_has_something_to_draw(name, sticks):
    (file,) = EXAMPLES.glob(f"{name}/{name}.*l")
    drawing = drawing_of(load(file), sticks=sticks)
    assert drawing.parts
    assert 0.05 < drawing.size < 50.0
    assert all(np.isfinite(part.triangles.corners).all() for part in drawing.parts)


def test_loops_are_marked_at_their_joint():
    mechanism = load(EXAMPLES / "four_bar" / "four_bar.yaml")
    scene = scene_of(still_run(mechanism))
    ends = [frame_poses(still_run(mechanism), frame)[0, :3, 3] for frame in ("coupler_end", "rocker_end")]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)
    marks = [part for part in scene.drawing.parts if part.colour == "#C0392B" and part.body != "crank_rod"]
    for part in marks:
        middle = part.triangles.moved(scene.animation.pose(part.body, 0)).corners.mean(axis=0)
        np.testing.assert_allclose(middle, ends[0], atol=1e-6)
    assert {part.body for part in marks} == {"coupler_rod", "rocker_rod"}


def test_a_spring_between_two_frames_is_a_rod_between_them():
    mechanism = Mechanism(
        name="strut",
        base={"frames": {"eye": {"place": {"pose": {"position": (0.0, 0.0, 2.0)}}}}},
        bodies={"mass": {"joint": {"kind": "prismatic", "coordinate": "z"}}},
        loads={"spring": SpringDamper(between=("eye", "mass"), stiffness=1.0)},
    )
    run = Run.from_arrays(mechanism, [0.0, 1.0], [[0.5], [1.5]], [[0.0], [0.0]])
    drawing = drawing_of(mechanism, at={"z": 0.5})
    animation = animation_of(run, drawing, fps=1.0)
    lengths = [np.linalg.norm(np.subtract(*animation.span(drawing.rods[-1], k))) for k in (0, 1)]
    assert lengths == pytest.approx([1.5, 0.5])


def test_a_mesh_that_is_not_there_is_told(tmp_path):
    mechanism = Mechanism(name="m", base={"shapes": [{"mesh": {"file": "package://robot/arm.stl"}}]})
    with pytest.warns(TorseurWarning, match=r"arm\.stl"):
        drawing_of(mechanism, folder=tmp_path)


def test_a_mesh_is_read_from_the_folder_and_scaled(tmp_path):
    pytest.importorskip("trimesh")
    corners = ["0 0 0", "1 0 0", "0 1 0", "0 0 1"]
    faces = ["1 3 2", "1 2 4", "2 3 4", "1 4 3"]
    (tmp_path / "meshes").mkdir()
    text = "\n".join([*(f"v {c}" for c in corners), *(f"f {f}" for f in faces)])
    (tmp_path / "meshes" / "corner.obj").write_text(text)
    shape = {"mesh": {"file": "package://robot/meshes/corner.obj", "scale": (2.0, 3.0, 1.0)}}
    drawing = drawing_of(Mechanism(name="m", base={"shapes": [shape]}), folder=tmp_path)
    assert volume(drawing.parts[0].triangles) == pytest.approx(1.0)


# -- in time -----------------------------------------------------------------------------------------------------------


def test_the_animation_of_a_run_has_as_many_pictures_as_asked_for():
    animation = scene_of(pendulum_run(), fps=25.0).animation
    assert len(animation.times) == 51
    assert animation.times[[0, -1]].tolist() == [0.0, 2.0]


@pytest.mark.parametrize("duration", [1e-6, 3e-3, 0.999, 1.0, 30.0, 100.0, 101.0, 86400.0])
def test_a_playback_of_any_run_takes_seconds_not_an_instant_nor_hours(duration):
    animation = scene_of(pendulum_run(np.linspace(0.0, duration, 11))).animation
    assert (animation.pace == 1.0) is (1.0 <= duration <= 100.0)
    assert 1.0 <= animation.times[-1] / animation.pace <= 101.0
    assert 30 <= len(animation.times) <= 3001


def test_turns_have_no_jumps_of_sign():
    time = np.linspace(0.0, 10.0, 401)
    turns = scene_of(pendulum_run(time), fps=60.0).animation.turns["upper"]
    assert np.sum(turns[1:] * turns[:-1], axis=1).min() > 0.9


def test_a_base_that_travels_far_is_followed_and_one_that_stays_is_not():
    mechanism = load(EXAMPLES / "car" / "car.yaml")
    q = np.zeros((101, 4))
    near = Run.from_arrays(mechanism, TIME, q, 0 * q)
    q[:, 0] = 30.0 * TIME
    far = Run.from_arrays(mechanism, TIME, q, 0 * q)
    assert scene_of(near).follow is None
    np.testing.assert_allclose(scene_of(far).follow[-1], [60.0, 0.0, 0.0])


@pytest.mark.parametrize(("reach", "followed"), [(2.0, False), (40.0, True)])
def test_a_mechanism_that_slides_away_as_a_whole_is_followed(reach, followed):
    mechanism = load(EXAMPLES / "braked_wheel" / "braked_wheel.yaml")
    q = np.stack([0.5 * reach * TIME, np.full_like(TIME, 0.3), TIME], axis=1)
    scene = scene_of(Run.from_arrays(mechanism, TIME, q, 0 * q))
    assert (scene.follow is not None) == followed
    if followed:
        np.testing.assert_allclose(scene.follow[-1] - scene.follow[0], [reach, 0.0, 0.0], atol=1e-12)
        assert camera_of(scene.animation, scene.drawing, scene.follow).reach < 5.0


def test_a_mechanism_with_a_part_that_stays_is_not_followed():
    mechanism = load(EXAMPLES / "braked_wheel" / "braked_wheel.yaml")
    shapes = mechanism.bodies["wheel"].shapes[:1]
    standing = mechanism.model_copy(update={"base": mechanism.base.model_copy(update={"shapes": shapes})})
    q = np.stack([20.0 * TIME, np.full_like(TIME, 0.3), TIME], axis=1)
    assert scene_of(Run.from_arrays(standing, TIME, q, 0 * q)).follow is None


@pytest.mark.parametrize(("length", "is_marked"), [(0.02, True), (0.4, False)])
def test_a_plain_disc_shows_that_it_turns(length, is_marked):
    """Turned by a right angle it is another picture; a cylinder that is no disc has no mark."""
    disc = load(EXAMPLES / "rolling_disc" / "rolling_disc.yaml")
    shape = disc.base.shapes[0]
    plain = shape.model_copy(update={"cylinder": shape.cylinder.model_copy(update={"length": length})})
    mechanism = disc.model_copy(update={"base": disc.base.model_copy(update={"shapes": (plain,)})})
    parts = drawing_of(mechanism).parts
    assert len(parts) == (3 if is_marked else 1)
    for part in parts[1:]:
        away = np.abs(part.triangles.corners[:, 1])
        assert away.min() > length / 2  # both faces show it
        assert np.hypot(part.triangles.corners[:, 0], part.triangles.corners[:, 2]).max() < 0.3


def test_a_body_round_about_one_axis_shows_that_it_turns_and_another_does_not():
    disc = {"cylinder": {"radius": 0.3, "length": 0.1}}
    hub, bar = {"cylinder": {"radius": 0.05, "length": 0.5}}, {"box": {"size": [0.1, 0.1, 0.1]}}
    for shapes, marked in (
        ([disc, hub], True),
        ([disc, bar], False),
        ([disc, hub | {"place": {"pose": {"position": [0.1, 0, 0]}}}], False),
    ):
        body = {"joint": {"kind": "revolute"}, "shapes": shapes}
        parts = drawing_of(Mechanism(name="rotor", bodies={"rotor": body})).parts
        assert len(parts) == len(shapes) + 2 * marked


def test_the_camera_has_the_whole_motion_in_view():
    scene = scene_of(pendulum_run())
    camera = camera_of(scene.animation, scene.drawing)
    canvas = Canvas(camera, (400, 300), 0.75)
    points = [
        part.triangles.moved(scene.animation.pose(part.body, k)).corners
        for part in scene.drawing.parts
        for k in range(61)
    ]
    screen, ahead = canvas.on_screen(np.concatenate(points))
    assert ahead.all()
    assert (screen[:, :2] > 0.0).all()
    assert (screen[:, 0] < canvas.width).all()
    assert (screen[:, 1] < canvas.height).all()


@pytest.mark.parametrize("factor", [1e-6, 1e4])
def test_a_scene_of_any_size_is_the_same_picture(factor):
    """viser sees lengths about one: what is much smaller or larger is drawn in another unit."""
    scene = scene_of(pendulum_run(), traces=["lower"], arrows=[Arrow("lower", "pull")])
    small = scene.scaled(factor)
    camera, other = (camera_of(x.animation, x.drawing) for x in (scene, small))
    assert camera.position * factor == pytest.approx(other.position, rel=1e-9)
    assert other.reach / _unit(other.reach) == pytest.approx(1.0, abs=0.9)
    assert _unit(camera.reach) == 1.0
    a, b = (
        Canvas(c, (40, 30), 0.75).on_screen(x.drawing.parts[1].triangles.corners)[0][:, :2]
        for c, x in ((camera, scene), (other, small))
    )
    np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("kind", ["floating", "fixed"])
def test_a_body_without_shape_or_extent_is_the_block_of_its_inertia(kind):
    """A uniform block of 3 kg, 0.2 m by 0.4 m by 0.1 m."""
    sides, mass = np.array([0.2, 0.4, 0.1]), 3.0
    moments = mass / 12.0 * ((sides**2).sum() - sides**2)
    block = {"mass": mass, "centre": [0.0, 0.0, 0.0], "tensor": dict(zip(("xx", "yy", "zz"), moments, strict=True))}
    if kind == "floating":
        mechanism = Mechanism(name="body", base={"kind": "floating", "inertia": block})
    else:
        mechanism = Mechanism(name="rotor", bodies={"rotor": {"joint": {"kind": "revolute"}, "inertia": block}})
    drawing = scene_of(still_run(mechanism)).drawing
    corners = next(part.triangles.corners for part in drawing.parts if len(part.triangles.faces) == 12)
    assert np.sort(np.ptp(corners, axis=0)) == pytest.approx(np.sort(sides))
    assert drawing.size > 0.0


def test_up_is_away_from_gravity():
    mechanism = pendulum_run().mechanism.model_copy(update={"gravity": (0.0, 9.81, 0.0)})
    run = dataclasses.replace(pendulum_run(), mechanism=mechanism)
    assert scene_of(run).animation.up.tolist() == [0.0, -1.0, 0.0]


# -- pictures ----------------------------------------------------------------------------------------------------------

CAMERA = Camera(np.array([0.0, -4.0, 0.0]), np.zeros(3), np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]]), -1.0, 4.0)


def test_a_line_covers_the_pixels_of_its_two_triangles():
    rng = np.random.default_rng(5)
    ends = rng.uniform((-2.0, -1.0, -1.5), (2.0, 3.0, 1.5), (40, 2, 3))
    colours = rng.uniform(0.0, 0.9, (40, 3))
    strips, triangles = Canvas(CAMERA, (80, 60), 1.0), Canvas(CAMERA, (80, 60), 1.0)
    for line, colour in zip(ends, colours, strict=True):
        strips.line(line, colour, 3.0)
        (a, b), _ = triangles.on_screen(line)
        along = (b - a)[:2] / np.hypot(*(b - a)[:2])
        side = 3.0 * np.array([-along[1], along[0], 0.0])
        for corners in ([a + side, b + side, b - side], [a + side, b - side, a - side]):
            triangles._triangle(np.array(corners), np.broadcast_to(colour, (3, 3)))
    assert np.abs(strips.pixels() - triangles.pixels()).max() < 1e-12


def test_quaternions_are_those_of_the_rotations():
    rotations = Rotation.random(200, random_state=3)
    half_turns = np.stack([np.diag(x) for x in ([1.0, -1, -1], [-1, 1, -1], [-1, -1, 1])])
    for R in (*rotations.as_matrix(), *half_turns):
        np.testing.assert_allclose(Rotation.from_quat(np.roll(quaternion_of(R), -1)).as_matrix(), R, atol=1e-14)


def test_what_is_nearer_hides_what_is_behind():
    red, blue = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    for order in (1, -1):
        canvas = Canvas(CAMERA, (80, 60), 1.0)
        solids = [
            (box((1.0, 0.1, 1.0)).moved(pointing([0, y, 0], [0, y, 1])), c) for y, c in ((-1.0, red), (1.0, blue))
        ]
        for shape, colour in solids[::order]:
            canvas.solid(shape, colour)
        middle = canvas.pixels()[30, 40]
        assert middle[0] > 0.4
        assert middle[2] == 0.0


def test_perspective_is_that_of_a_pinhole():
    canvas = Canvas(CAMERA, (80, 60), 2.0 * math.atan(0.5))
    screen, _ = canvas.on_screen(np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [1.0, 4.0, 0.0]]))
    np.testing.assert_allclose(screen[:, :2], [[80.0, 60.0], [80.0, 0.0], [95.0, 60.0]], atol=1e-12)
    np.testing.assert_allclose(screen[:, 2], [0.25, 0.25, 0.125])


def test_a_snapshot_shows_the_mechanism_at_its_time(tmp_path):
    run, size = pendulum_run(), (160, 120)
    first, later = (picture(run, at=t, size=size) for t in (0.0, 1.0))
    assert first.shape == (120, 160, 3)
    assert np.abs(first - later).max() > 0.3
    snapshot(run, tmp_path / "a.png", at=1.0, size=size)
    from matplotlib.image import imread

    np.testing.assert_allclose(imread(tmp_path / "a.png")[..., :3], later, atol=0.01)


def test_traces_and_forces_are_in_the_picture():
    run, size = pendulum_run(), (160, 120)
    plain = picture(run, at=1.0, size=size)
    traced = picture(run, at=1.0, size=size, traces=["lower"])
    pushed = picture(run, at=1.0, size=size, arrows=[Arrow("lower", "pull")])
    assert (np.abs(traced - plain).max(axis=2) > 0.1).sum() > 20
    red = pushed[..., 0] - pushed[..., 2] > 0.25
    assert (red & (np.abs(pushed - plain).max(axis=2) > 0.2)).sum() > 10


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: snapshot(pendulum_run(), "a.jpg"), "PNG"),
        (lambda: pendulum_run().animate("a.avi"), r"\.html, \.gif or \.mp4"),
        (lambda: pendulum_run().animate("a.mp4", size=(101, 80)), "even numbers"),
        (lambda: scene_of(pendulum_run(), fps=0.0), "pictures per second"),
        (lambda: scene_of(pendulum_run(np.array([0.0, 1e4])), pace=1.0), "too long"),
        (lambda: scene_of(pendulum_run(), pace=0.0), "positive number"),
        (lambda: scene_of(pendulum_run(), arrows=[Arrow("lower", "q1")]), "three components"),
        (lambda: scene_of(Run(None, TIME, {})), "has no mechanism"),
        (lambda: scene_of(pendulum_run(), traces=["tip"]), "no frame 'tip'"),
    ],
)
def test_what_cannot_be_shown_is_refused(act, message):
    with pytest.raises(ArgumentError, match=message):
        act()


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("follow", [None, "lower"])
def test_the_camera_frames_a_motion_in_any_plane(axis, follow):
    run = pendulum_run()
    up = np.roll([0.0, 0.0, -9.81], axis)
    run = dataclasses.replace(run, mechanism=run.mechanism.model_copy(update={"gravity": tuple(up)}))
    scene = scene_of(run, follow=follow)
    camera = camera_of(scene.animation, scene.drawing, scene.follow)
    moved = 0.0 if scene.follow is None else (scene.follow - scene.follow[0])[:, None]
    corners = [
        [part.triangles.moved(scene.animation.pose(part.body, k)).corners for k in range(61)]
        for part in scene.drawing.parts
        if part.body != "world"
    ]
    shown = np.concatenate([(np.array(c) - moved).reshape(-1, 3) for c in corners])
    screen, ahead = Canvas(camera, (480, 400), 0.75).on_screen(shown)
    assert ahead.all()
    assert (screen[:, :2] > 0.0).all()
    assert (screen[:, :2] < [960.0, 800.0]).all()
    assert np.ptp(screen[:, :2], axis=0).max() > 0.55 * 800.0  # and not from far away


def test_up_is_known_where_gravity_is_a_formula():
    mechanism = Mechanism(
        name="m",
        parameters={"g": {"value": 9.81}},
        gravity=(0.0, "-g", 0.0),
        bodies={"a": {"joint": {"kind": "revolute"}}},
    )
    assert scene_of(still_run(mechanism)).animation.up.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_a_film_shows_the_run_at_its_pace(tmp_path, ending):
    imageio = pytest.importorskip("imageio_ffmpeg" if ending == "mp4" else "PIL.Image")
    file = tmp_path / f"swing.{ending}"
    pendulum_run().animate(file, fps=4.0, size=(96, 64))
    if ending == "gif":
        with imageio.open(file) as film:
            lengths, frames = [], []
            for k in range(film.n_frames):
                film.seek(k)
                lengths.append(film.info["duration"])
                frames.append(np.asarray(film.convert("RGB"), dtype=float))
        assert sum(lengths) == 2250  # nine pictures of a quarter of a second, ms
    else:
        raw = [imageio.get_ffmpeg_exe(), "-i", str(file), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
        done = subprocess.run(raw, capture_output=True, check=True)
        assert b" 4 fps" in done.stderr
        frames = [*np.frombuffer(done.stdout, np.uint8).reshape(-1, 64, 96, 3).astype(float)]
    assert len(frames) == 9
    assert frames[0].shape == (64, 96, 3)
    assert np.abs(frames[0][20:] - frames[4][20:]).max() > 60.0  # it moves, below the time


def test_a_page_holds_the_curves_of_its_run(tmp_path):
    pytest.importorskip("viser")
    run = pendulum_run()
    run.animate(tmp_path / "run.html", fps=2.0, arrows=[Arrow("lower", "pull")])
    text = (tmp_path / "run.html").read_text()
    data = json.loads(re.search(r'id="run-data">(.*?)</script>', text)[1])
    assert [line["label"] for line in data["panels"][0]["lines"]] == ["q₁", "q₂₁"]
    assert data["panels"][0]["label"] == "angle (rad)"
    np.testing.assert_allclose(data["panels"][0]["lines"][0]["values"], run["q1"], rtol=1e-5)
    np.testing.assert_allclose(data["time"], run.time, rtol=1e-8)
    assert {"label": "pull", "colour": "#C0392B"} in data["legend"]
    assert data["legend"][0]["label"].startswith("path of ")


def test_text_of_a_model_cannot_leave_the_data_of_a_page():
    run = pendulum_run()
    evil = run.mechanism.model_copy(update={"title": "</script><script>alert(1)</script>"})
    scene = scene_of(run, fps=1.0)
    page = page_with_curves(
        "<head><title>Viser</title></head><body></body>", dataclasses.replace(run, mechanism=evil), scene
    )
    assert "<script>alert" not in page


def test_values_that_are_no_numbers_are_refused():
    run = pendulum_run()
    q = run.q.copy()
    q[50:] = math.nan
    with pytest.raises(ArgumentError, match="has no place in"):
        scene_of(Run.from_arrays(run.mechanism, TIME, q, 0.0 * q))
