"""Every model file of the examples: complete, without faults, read back as written, closed where it starts."""

import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from support.example_files import EXAMPLES, FILES, Example
from torseur.cli.model_files import check
from torseur.describe import BaseKind, Mechanism
from torseur.describe.checks import Severity
from torseur.describe.fields import names_in
from torseur.formats import load, read, save
from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.writer import write_yaml

FAULTY = "welding_arm_printed"

# bodies, coordinates, speeds, loops, constraints: what the documents count.
COUNTS = {
    "planar_2r": (2, 2, 2, 0, 0),
    "arm_3r": (3, 3, 3, 0, 0),
    "rx90": (6, 6, 6, 0, 0),
    "sr400": (8, 8, 8, 1, 0),
    "stanford": (6, 6, 6, 0, 0),
    "welding_arm_printed": (7, 7, 7, 0, 0),
    "welding_arm": (7, 7, 7, 0, 0),
    "welding_arm_free_form": (7, 7, 7, 0, 0),
    "motorised_6r": (6, 6, 6, 0, 0),
    "satellite_arm": (6, 13, 12, 0, 0),
    "tractor_trailer": (2, 5, 5, 0, 4),
    "car": (1, 4, 4, 0, 3),
    "bicycle_3dof": (1, 4, 4, 0, 1),
    "vehicle_11dof": (7, 11, 11, 0, 2),
    "vehicle_16dof": (16, 16, 16, 0, 4),
    "two_wheel_406": (7, 11, 11, 0, 2),
    "peugeot_406": (14, 16, 16, 0, 4),
    "braked_406": (14, 16, 16, 0, 4),
    "loaded_406": (14, 16, 16, 0, 6),
    "braked_two_wheel": (7, 11, 11, 0, 2),
    "bicycle_406": (7, 6, 6, 0, 5),
    "bmw_320i": (24, 18, 18, 0, 6),
    "single_track": (0, 3, 3, 0, 0),
    "tractor_on_tyres": (22, 22, 22, 0, 8),
    "five_link": (6, 14, 13, 4, 0),
    "five_link_axle": (24, 42, 40, 8, 6),
    "smera": (34, 32, 32, 6, 5),
    "smera_sized": (34, 32, 32, 6, 5),
    "smera_free_lyre": (34, 32, 32, 6, 4),
    "smera_controlled": (34, 32, 32, 6, 5),
    "smera_upright": (34, 32, 32, 6, 6),
    "smera_11dof": (7, 11, 11, 0, 2),
    "double_pendulum": (2, 2, 2, 0, 0),
    "four_bar": (3, 3, 3, 1, 0),
    "rolling_disc": (0, 7, 6, 0, 1),
    "braked_wheel": (3, 3, 3, 0, 1),
    "whipple_bicycle": (3, 9, 9, 0, 2),
    "heavy_top": (1, 4, 3, 0, 0),
}


def is_free_form(mechanism: Mechanism) -> bool:
    return bool(mechanism.coordinates)


MECHANISMS = {name: read(path).mechanism for name, path in FILES.items()}
TREES = [name for name, mechanism in MECHANISMS.items() if not is_free_form(mechanism)]
CLOSED = [name for name in COUNTS if COUNTS[name][3]]


def test_every_example_is_counted():
    assert set(COUNTS) == set(FILES)


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES.values()}), ids=lambda folder: folder.name)
def test_a_folder_is_called_as_its_file_and_says_where_it_comes_from(folder):
    assert (folder / f"{folder.name}.yaml").is_file()
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert folder.name == "double_pendulum" or ("Source" in text and "nvented" in text)


def test_the_page_of_the_examples_tells_the_truth():
    """Every folder has its row, with the numbers of the file, and its scheme."""
    page = (EXAMPLES.parent / "docs" / "examples.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d, ]+) \|", page, flags=re.MULTILINE))
    assert set(rows) == {path.parent.name for path in FILES.values()}
    for name, row in rows.items():
        bodies, coordinates, _, loops, constraints = COUNTS[name]
        given = [int(x) for x in row.split(",")]
        assert given + [0] * (4 - len(given)) == [bodies, coordinates, loops, constraints], name
    pictures = set(re.findall(r"_static/schemes/(\w+)\.svg", page))
    assert pictures <= set(FILES)
    assert set(rows) - pictures == {FAULTY}


# -- what is in a file -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FILES)
def test_a_file_loads_under_its_own_name(name):
    assert load(FILES[name]).name == name


@pytest.mark.parametrize("name", COUNTS)
def test_numbers_of_bodies_coordinates_speeds_loops_and_constraints(name):
    m = read(FILES[name]).mechanism
    assert (len(m.bodies), len(m.q), len(m.v), len(m.loops), len(m.constraints)) == COUNTS[name]


def studies_beside(name):
    """As text: their controllers may use parameters that no load uses."""
    texts = [path.read_text(encoding="utf-8") for path in FILES[name].parent.glob("*.yaml")]
    return "\n".join(text for text in texts if "torseur_study:" in text)


@pytest.mark.examples
@pytest.mark.parametrize("name", sorted(set(FILES) - {FAULTY}))
def test_check_finds_nothing(name):
    faults = read(FILES[name]).faults
    used = studies_beside(name)
    unused = [f for f in faults if f.what == "nothing uses it" and re.search(rf"\b{f.path[-1]}\b", used)]
    assert [fault for fault in faults if fault not in unused] == []
    done = CliRunner().invoke(check, [str(FILES[name]), "--strict"])
    assert done.exit_code == 0, done.output
    assert f"{len(unused)} notes" in done.output if unused else "no faults found" in done.output


def test_check_names_the_coordinate_that_the_printed_welding_arm_never_uses():
    reading = read(FILES[FAULTY])
    assert {fault.severity for fault in reading.faults} == {Severity.WARNING}
    whats = [fault.what for fault in reading.faults]
    assert "no body depends on q6: the inertia matrix has a row of zeros" in whats
    done = CliRunner().invoke(check, [str(FILES[FAULTY]), "--strict"])
    assert done.exit_code == 1
    line = next(k for k, text in enumerate(FILES[FAULTY].read_text().splitlines(), 1) if text.startswith("  q6:"))
    assert f"{FILES[FAULTY]}:{line}:3: coordinates.q6: no body depends on q6" in done.output


@pytest.mark.parametrize("name", FILES)
def test_reading_what_was_written_gives_the_same(name, tmp_path):
    mechanism = read(FILES[name]).mechanism
    text = write_yaml(mechanism)
    assert read_yaml(text) == mechanism
    assert write_yaml(read_yaml(text)) == text
    save(mechanism, tmp_path / "again.yaml")
    assert load(tmp_path / "again.yaml") == mechanism


@pytest.mark.parametrize("name", FILES)
def test_every_number_has_a_value_a_unit_and_a_description(name):
    m = read(FILES[name]).mechanism
    things = [*m.parameters.items(), *m.inputs.items(), *m.outputs.items()]
    assert not [key for key, thing in things if not (thing.unit and thing.description)]
    assert not [key for key, parameter in m.parameters.items() if parameter.value is None]


@pytest.mark.parametrize("name", FILES)
def test_every_coordinate_has_a_meaning_of_its_own(name):
    m = read(FILES[name]).mechanism
    tables = [m.base.coordinates, m.coordinates, *(body.joint.coordinates for body in m.bodies.values())]
    said = {key for table in tables for key, coordinate in table.items() if coordinate.meaning}
    assert said == {x.name for x in m.q}


@pytest.mark.parametrize("name", FILES)
def test_everything_that_has_mass_can_be_seen(name):
    m = read(FILES[name]).mechanism
    assert not [key for key, body in m.bodies.items() if body.inertia is not None and not body.shapes]
    assert m.base.inertia is None or m.base.shapes


def test_no_example_needs_a_file_from_elsewhere():
    texts = {path: path.read_text(encoding="utf-8") for path in [*EXAMPLES.glob("*/*.yaml"), *EXAMPLES.glob("*/*.md")]}
    assert not [Path(path).name for path, text in texts.items() if "shared" in text]
    named = [path.parent / name for path, text in texts.items() for name in re.findall(r"\.\./[\w./]*", text)]
    assert len(named) > 3
    assert not [path for path in named if not (path.is_file() and path.resolve().is_relative_to(EXAMPLES))]


# -- how it starts and moves -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", CLOSED)
def test_loops_are_closed_at_the_start(name):
    example = Example(name)
    gaps = {loop: example.gap(loop) for loop in example.mechanism.loops}
    assert max(gaps.values()) < 1e-12, gaps


@pytest.mark.parametrize("name", CLOSED)
def test_the_test_of_closure_has_teeth(name):
    """Any coordinate that a loop depends on opens it by what it was moved, not less."""
    example = Example(name)
    opened = 0
    for k in range(len(example.start)):
        q = example.start + 1e-3 * np.eye(len(example.start))[k]
        opened += max(example.gap(loop, q) for loop in example.mechanism.loops) > 1e-5
    assert opened >= 3


@pytest.mark.parametrize("name", [name for name in FILES if MECHANISMS[name].constraints])
def test_equations_and_couplings_hold_at_the_start(name):
    example = Example(name)
    q, m = example.start, example.mechanism
    places = dict(zip((x.name for x in m.q), q, strict=True))
    for key, constraint in m.constraints.items():
        if constraint.zero is not None:
            assert abs(example.number(constraint.zero, q)) < 1e-12, key
        if constraint.coupling is not None:
            form = constraint.coupling
            assert places[form.coordinate] == pytest.approx(example.number(form.equals, q), abs=1e-12), key


@pytest.mark.examples
@pytest.mark.parametrize("name", TREES)
def test_inverse_dynamics_of_the_tree_is_finite(name):
    example = Example(name)
    n = len(example.mechanism.v)
    rng = np.random.default_rng(3)
    inputs = rng.uniform(-1, 1, len(example.mechanism.inputs))
    for v, vdot in ((example.rest, example.rest), rng.uniform(-1, 1, (2, n))):
        assert np.all(np.isfinite(example("inverse_dynamics", example.start, v, vdot, u=inputs)))


@pytest.mark.parametrize("name", TREES)
def test_the_inertia_matrix_is_positive_but_for_prescribed_coordinates(name):
    example = Example(name)
    m = example.mechanism
    driven = {f"d{c.prescribed.coordinate}" for c in m.constraints.values() if c.prescribed is not None}
    free = [k for k, x in enumerate(m.v) if x.name not in driven]
    M = example("mass_matrix", example.start)
    np.testing.assert_allclose(M, M.T, atol=1e-9)
    assert np.linalg.eigvalsh(M[np.ix_(free, free)])[0] > 1e-5


def test_vehicles_and_satellite_stand_on_the_base_their_documents_give_them():
    planar, floating = ("tractor_trailer", "car", "bicycle_3dof"), ("vehicle_11dof", "vehicle_16dof", "smera")
    kinds = {name: read(FILES[name]).mechanism.base for name in (*planar, *floating, "satellite_arm")}
    assert all(kinds[name].kind is BaseKind.PLANAR for name in planar)
    assert all((kinds[name].kind, kinds[name].orientation) == (BaseKind.FLOATING, "rpy") for name in floating)
    assert (kinds["satellite_arm"].kind, kinds["satellite_arm"].orientation) == (BaseKind.FLOATING, "quaternion")


def test_only_the_listings_are_free_form():
    free = {name for name in FILES if is_free_form(read(FILES[name]).mechanism)}
    assert free == {"welding_arm_printed", "welding_arm_free_form"}
    for name in free:
        m = read(FILES[name]).mechanism
        assert all(body.joint.kind == "fixed" and names_in(body.place) for body in m.bodies.values())
