"""OpenCRG files, written here from the description of the format: straight and bent lines, slope, banking, faults."""

import re

import numpy as np
import pytest

import torseur as ts
from support.vehicles import car
from torseur.errors import ModelError
from torseur.packs.roads import OpenCrg
from torseur.packs.roads.open_crg import read_crg

DU, V = 0.5, np.array([-1.5, -0.5, 0.5, 1.5])


def crg(z, *, head="", phi=None, slope=None, banking=None, by_number=False, width=10, form="LRFI"):
    """A file; None in z is a place without a height."""
    lines = [
        "$CT",
        "made for a test: key = word $ ! *",
        "$",
        "$ROAD_CRG  ! of the line",
        f"REFERENCE_LINE_INCREMENT = {DU}",
    ]
    if by_number:
        lines += [f"LONG_SECTION_V_RIGHT = {V[0]}", f"long_section_v_increment = {V[1] - V[0]}  ! m"]
    lines += [head, "* a comment", "$", "$KD_Definition", f"#:{form}", f"U:reference line u,m,0,{DU}"]
    channels = {"phi": phi, "slope": slope, "banking": banking}
    given = {name: values for name, values in channels.items() if values is not None}
    lines += [f"D:reference line {name},rad" for name in given]
    lines += [f"D:long section {k + 1},m" if by_number else f"D:long section at v = {v:.3f},m" for k, v in enumerate(V)]
    lines += ["$", "$$$$$$"]
    for i, row in enumerate(z):
        cells = [values[i] for values in given.values()] + list(row)
        texts = ["*missing*".rjust(width) if c is None else f"{c:{width}.7f}" for c in cells]
        per = 80 // width
        lines += ["".join(texts[k : k + per]) for k in range(0, len(texts), per)]
    return "\n".join(lines).encode("ascii")


@pytest.fixture
def road(tmp_path):
    def made(data, **fields):
        (tmp_path / "road.crg").write_bytes(data)
        return OpenCrg(file="road.crg", **fields).made("road", tmp_path)

    return made


def height(made, x, y):
    tables = {name: table.lookup for name, table in made.tables.items()}
    return np.array([made.road.height.value({"x": a, "y": b}, tables) for a, b in zip(x, y, strict=True)])


SURFACE = np.add.outer(0.01 * np.sin(0.7 * np.arange(9)), [0.02, 0.0, -0.01, 0.03])


@pytest.mark.parametrize("by_number", [True, False], ids=["by number", "by place"])
@pytest.mark.parametrize("width", [10, 20])
def test_a_straight_road_has_the_heights_of_the_file_at_its_points_and_is_held_beyond(road, by_number, width):
    made = road(crg(SURFACE, by_number=by_number, width=width, form="LRFI" if width == 10 else "LDFI"), at_origin=False)
    x, y = (k.ravel() for k in np.meshgrid(DU * np.arange(9), V, indexing="ij"))
    np.testing.assert_allclose(height(made, x, y), SURFACE.ravel(), atol=6e-8)
    np.testing.assert_allclose(height(made, [-5.0, 50.0], [9.0, -9.0]), [SURFACE[0, -1], SURFACE[-1, 0]], atol=6e-8)
    assert made.road.smooth


def test_it_begins_at_the_origin_at_height_zero_unless_the_file_is_to_place_it(road):
    start = {"X": 10, "Y": -3, "Z": 7, "PHI": 0.4}
    head = "\n".join(f"REFERENCE_LINE_START_{name} = {value}" for name, value in start.items())
    data = crg(SURFACE, head=head)
    u, v = np.array([0.0, 1.0, 2.5]), np.array([-0.5, -0.5, 1.5])
    wanted = np.array([SURFACE[0, 1], SURFACE[2, 1], SURFACE[5, 3]])
    middle = 0.5 * (SURFACE[0, 1] + SURFACE[0, 2])
    np.testing.assert_allclose(height(road(data), u, v), wanted - middle, atol=1e-7)
    x, y = 10 + u * np.cos(0.4) - v * np.sin(0.4), -3 + u * np.sin(0.4) + v * np.cos(0.4)
    np.testing.assert_allclose(height(road(data, at_origin=False), x, y), 7 + wanted, atol=1e-7)


def test_slope_and_banking_add_to_the_grid(road):
    """Slopes lead from point to point, so that the first is none; banking raises the left."""
    slope, banking = [None, *(0.1 * np.ones(8))], 0.05 * np.ones(9)
    made = road(crg(SURFACE, slope=slope, banking=banking), at_origin=False)
    u, v = np.array([0.0, 1.0, 4.0]), np.array([1.5, -1.5, 0.5])
    wanted = [SURFACE[0, 3], SURFACE[2, 0], SURFACE[8, 2]] + 0.1 * u + 0.05 * v
    np.testing.assert_allclose(height(made, u, v), wanted, atol=1e-7)
    constant = crg(SURFACE, head="REFERENCE_LINE_START_S = 0.1\nREFERENCE_LINE_START_B = 0.05")
    np.testing.assert_allclose(height(road(constant, at_origin=False), u, v), wanted, atol=1e-7)


def test_sides_without_a_height_have_that_of_the_nearest_place(road):
    z = [list(row) for row in SURFACE]
    z[3][0], z[3][1], z[5][3] = None, None, None
    found = read_crg(crg(z)).z
    np.testing.assert_allclose(found[3], SURFACE[3, [2, 2, 2, 3]], atol=6e-8)
    np.testing.assert_allclose(found[5], SURFACE[5, [0, 1, 2, 2]], atol=6e-8)


def test_a_bent_road_is_the_same_road_along_its_arc(road):
    """On an arc of radius R about (0, R), u is R times the angle and v is to the left: nearer to the middle."""
    R, n = 20.0, 41
    phi = [None, *((np.arange(1, n) - 0.5) * DU / R)]
    z = np.add.outer(0.05 * np.sin(0.3 * DU * np.arange(n)), 0.02 * V)
    made = road(crg(z, phi=phi), spacing=0.1, at_origin=False)
    u, v = np.array([2.0, 7.3, 15.1]), np.array([0.7, -1.2, 0.3])
    x, y = (R - v) * np.sin(u / R), R - (R - v) * np.cos(u / R)
    np.testing.assert_allclose(height(made, x, y), 0.05 * np.sin(0.3 * u) + 0.02 * v, atol=3e-4)
    line = read_crg(crg(z, phi=phi))
    np.testing.assert_allclose(line.x, R * np.sin(line.u / R), atol=1e-3)


@pytest.mark.slow
def test_a_car_rolls_down_a_hill_of_a_file(tmp_path):
    """From rest on a slope of 5 %: with g sin, less what its wheels take up."""
    (tmp_path / "hill.crg").write_bytes(crg(np.zeros((41, 4)), head="REFERENCE_LINE_START_S = 0.05"))
    made = car(tmp_path, road={"open_crg": {"file": "hill.crg"}})
    lean = np.hypot(1.0, 0.05)
    start = {"x": 10.0, "z": 0.05 * 10.0 + 0.5 * lean, "pitch": -np.arctan(0.05)}
    run = ts.simulate(made, until=0.5, start=start, solver={"method": "rodas", "rtol": 1e-6, "atol": 1e-8})
    rolling = 1480 / (1480 + 4 * 0.8 / 0.3**2)
    assert run["vx"][-1] == pytest.approx(-0.5 * 9.81 * 0.05 / lean * rolling, rel=0.02)
    assert run.audit().holds


FAULTS = {
    "binary": (lambda t: t.replace(b"#:LRFI", b"#:KRBI"), "binary data are not read.*LRFI"),
    "no format": (lambda t: t.replace(b"#:LRFI\n", b""), "binary data are not read"),
    "a misspelt parameter": (
        lambda t: t.replace(b"LINE_INCREMENT", b"LINE_INCREMNT"),
        "unknown parameter.*did you mean",
    ),
    "no increment": (
        lambda t: re.sub(rb"REFERENCE_LINE_INCREMENT.*\n|U:.*\n", b"", t),
        "the way between cross sections is not known",
    ),
    "no number": (lambda t: t.replace(b"-0.0100000", b"-0.01oo000", 1), r"road.crg:18:21: not a number.*10 characters"),
    "a short row": (
        lambda t: t.replace(b"-0.0100000 0.0300000", b"-0.0100000", 1),
        "road.crg:18:1: a row of another length",
    ),
    "an unknown channel": (
        lambda t: t.replace(b"D:long section at v = 0.500", b"D:friction at v = 0.5"),
        "channel that is not known",
    ),
    "two forms": (lambda t: t.replace(b"D:long section at v = 0.500", b"D:long section 3"), "by number and by v"),
    "modifiers": (
        lambda t: t.replace(b"$KD", b"$ROAD_CRG_MODS\nSCALE_Z_GRID = 2\n$\n$KD"),
        "modifiers are not applied",
    ),
    "another file": (lambda t: t.replace(b"$KD", b"$ROAD_CRG_FILE\nother.crg\n$\n$KD"), "data in another file"),
    "an option": (
        lambda t: t.replace(b"$KD", b"$ROAD_CRG_OPTS\nBORDER_MODE_U = 3\n$\n$KD"),
        "option 'BORDER_MODE_U' is not read",
    ),
    "an end elsewhere": (
        lambda t: t.replace(b"* a comment", b"REFERENCE_LINE_END_X = 5"),
        "does not lead to REFERENCE_LINE_END_X",
    ),
    "another length": (
        lambda t: t.replace(b"* a comment", b"REFERENCE_LINE_END_U = 9"),
        "number of cross sections is another",
    ),
    "a hole": (lambda t: t.replace(b"-0.0100000", b" *missing*", 1), "cross section 1 has no height somewhere"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_what_cannot_be_read_is_said(road, what):
    change, words = FAULTS[what]
    data = crg(SURFACE)
    changed = change(data)
    assert changed != data
    with pytest.raises(ModelError) as caught:
        road(changed)
    assert re.search(words, str(caught.value), re.DOTALL)


def test_a_bent_road_with_too_many_points_is_refused(road):
    phi = [None, *(0.1 * np.arange(1, 9))]
    with pytest.raises(ModelError, match="too many points"):
        road(crg(SURFACE, phi=phi), spacing=1e-3)
