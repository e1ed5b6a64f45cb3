"""Files: the ending says the format, what comes in is bounded, what is wrong in any format is found alike."""

import pickle

import pytest

import torseur
from support.example_files import FILES
from torseur.describe import Mechanism
from torseur.describe.checks import Severity
from torseur.errors import ModelError
from torseur.formats import FORMATS, LARGEST_FILE, load, read, save
from torseur.formats.yaml.reader import read_yaml

GOOD = """\
torseur: 1
name: arm
bodies: {a: {joint: {kind: revolute, coordinate: q}, inertia: {XX: 1, YY: 1, ZZ: 1, M: 1}}}
"""
URDF = """<robot name="r"><link name="a"/><link name="b"/>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def test_the_public_names_are_those_of_this_layer():
    assert torseur.load is load
    assert torseur.save is save


@pytest.mark.parametrize("ending", [".yaml", ".yml", ".YAML"])
def test_yaml_may_end_in_several_ways(tmp_path, ending):
    file = tmp_path / f"arm{ending}"
    file.write_text(GOOD)
    assert load(file) == load(str(file)) == read_yaml(GOOD)


@pytest.mark.parametrize("ending", [ending for ending, format_ in FORMATS.items() if format_.write])
def test_what_is_saved_can_be_loaded(tmp_path, ending):
    save(read_yaml(GOOD), tmp_path / f"arm{ending}")
    again = load(tmp_path / f"arm{ending}")
    assert [variable.unit for variable in again.q] == ["rad"]


def test_a_file_of_another_format_is_checked_too(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(URDF)
    reading = read(file)
    (fault,) = [fault for fault in reading.faults if fault.severity is Severity.WARNING]
    assert "moves no mass" in fault.what
    assert fault.where == f"{file}: bodies.b.joint.coordinates.j"
    assert load(file) == reading.mechanism


def test_read_gives_a_mechanism_with_its_faults_and_load_raises_them(tmp_path):
    file = tmp_path / "arm.yaml"
    file.write_text("torseur: 1\nname: arm\nbodies:\n  a: {parent: x, pose: [y, 0, 0]}\n")
    reading = read(file)
    assert isinstance(reading.mechanism, Mechanism)
    assert [str(error).partition("\n")[0] for error in reading.errors] == [
        f"{file}:4:15: bodies.a.parent: no body 'x'",
        f"{file}:4:25: bodies.a.pose[0]: unknown name 'y'",
    ]
    with pytest.raises(ModelError) as caught:
        load(file)
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize("ending", [".yaml", ".par", ".urdf", ".mu"])
def test_a_huge_file_is_refused_before_it_is_read(tmp_path, ending):
    file = tmp_path / f"huge{ending}"
    with file.open("wb") as stream:
        stream.truncate(2_000_000_000)  # takes no room on the disk
    with pytest.raises(ModelError, match="too large for a model"):
        load(file)


@pytest.mark.parametrize("ending", FORMATS)
def test_a_file_that_cannot_be_read_is_our_error(tmp_path, ending):
    with pytest.raises(ModelError, match="cannot be read") as caught:
        load(tmp_path / f"none{ending}")
    assert isinstance(caught.value.__cause__, OSError)
    (tmp_path / f"folder{ending}").mkdir()
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path / f"folder{ending}")


@pytest.mark.parametrize("name", ["arm", "arm.doc", "arm.yaml.bak", ".yaml"])
def test_another_ending_is_refused(tmp_path, name):
    (tmp_path / name).write_text(GOOD)
    with pytest.raises(ModelError, match="of a kind that is not known"):
        load(tmp_path / name)
    with pytest.raises(ModelError, match="of a kind that is not written"):
        save(read_yaml(GOOD), tmp_path / name)


def test_the_limit_is_the_same_for_files_and_for_text():
    from torseur.formats.yaml import nodes as yaml_nodes

    assert yaml_nodes.LARGEST_FILE == LARGEST_FILE


def test_saving_the_same_twice_gives_the_same_bytes(tmp_path):
    save(read_yaml(GOOD), tmp_path / "a.yaml")
    save(load(tmp_path / "a.yaml"), tmp_path / "b.yaml")
    assert (tmp_path / "a.yaml").read_bytes() == (tmp_path / "b.yaml").read_bytes()
    assert b"\r" not in (tmp_path / "a.yaml").read_bytes()


def test_faults_of_files_survive_a_process_border(tmp_path):
    (tmp_path / "arm.yaml").write_text("torseur: 1\nname: 1\nbodies: 3\n")
    with pytest.raises(ModelError) as caught:
        load(tmp_path / "arm.yaml")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# -- the examples ------------------------------------------------------------------------------------------------------

EXAMPLES = list(FILES.values())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_sound_and_comes_back_equal(path, tmp_path):
    mechanism = load(path)
    save(mechanism, tmp_path / "copy.yaml")
    assert load(tmp_path / "copy.yaml") == mechanism


def test_only_the_arm_with_printing_errors_is_warned_about():
    warned = {
        path.stem: {fault.path[1] for fault in read(path).faults if fault.severity is Severity.WARNING}
        for path in EXAMPLES
    }
    assert {name: things for name, things in warned.items() if things} == {"welding_arm_printed": {"S3", "q6"}}
