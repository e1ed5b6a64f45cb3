"""``torseur check``, ``convert`` and ``schema``: what they print, what they write, and the codes they end with."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

import torseur
from torseur.cli import main
from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.schema import schema

DATA = Path(__file__).resolve().parent.parent / "data" / "yaml"
EVERYTHING = DATA / "everything.yaml"
GOOD = "torseur: 1\nname: arm\nbodies: {a: {joint: {kind: revolute, coordinate: q}, inertia: {ZZ: 1}}}\n"
WARNED = "torseur: 1\nname: arm\nbodies: {a: {joint: {kind: revolute, coordinate: q}}}\n"
WRONG = "torseur: 1\nname: arm\nbodies: {a: {parent: bse}, b: {parent: base}}\n"
BROKEN = "torseur: 1\nname: arm\nbodies: {a: {joint: 3}}\ntitel: x\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(here: Path, text: str, *options: str) -> int:
    (here / "arm.yaml").write_text(text, encoding="utf-8")
    return main(["check", "arm.yaml", *options])


# -- check -------------------------------------------------------------------------------------------------------------


def test_a_good_file_ends_with_0(here, capsys):
    assert check(here, GOOD) == 0
    assert "no faults found" in capsys.readouterr().out


def test_a_wrong_file_ends_with_1_and_still_shows_what_is_in_it(here, capsys):
    assert check(here, WRONG) == 1
    printed = capsys.readouterr().out
    assert "└─ b fixed" in printed
    assert "not connected to the world: a" in printed
    assert "error: arm.yaml:3:22: bodies.a.parent: no body 'bse'\n  remedy: did you mean 'base'?" in printed
    assert printed.endswith("1 error\n")


def test_a_broken_file_ends_with_1_and_lists_all_faults(here, capsys):
    assert check(here, BROKEN) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("error: 2 faults\n1. arm.yaml:3:21: bodies.a.joint: ")
    assert "2. arm.yaml:4:1: titel: unknown key" in printed


def test_warnings_end_with_1_only_if_asked(here, capsys):
    assert check(here, WARNED) == 0
    assert "warning: arm.yaml:3:50: bodies.a.joint: q moves no mass" in capsys.readouterr().out
    assert check(here, WARNED, "--strict") == 1


def test_a_file_that_is_not_there_is_our_error(here, capsys):
    assert main(["check", "nothing.yaml"]) == 1
    assert "the file cannot be read" in capsys.readouterr().err
    assert main(["check", "."]) == 1


def test_an_unknown_ending_is_our_error(here, capsys):
    (here / "arm.doc").write_text("x")
    assert main(["check", "arm.doc"]) == 1
    assert ".yaml .yml .par .urdf" in capsys.readouterr().err


TREE = """\
tree
  world
  ├─ base floating X Y Z roll pitch yaw [frames: seat]
  │  └─ turret revolute q1 [frames: tip, moving]
  │     ├─ slide prismatic r1
  │     │  └─ screw screw w1
  │     │     └─ ball spherical b0 b1 b2 b3
  │     │        └─ cross universal cross_x cross_y
  │     │           └─ sleeve cylindrical sleeve_angle sleeve_slide
  │     └─ gripper fixed (place depends on s1, s2)
  ├─ puck planar puck_x puck_y puck_yaw
  │  └─ welded fixed (massless)
  ├─ kite free kite_x kite_y kite_z kite_qw kite_qx kite_qy kite_qz
  └─ ship free_rpy ship_x ship_y ship_z ship_roll ship_pitch ship_yaw
"""


def test_everything_is_shown(capsys):
    assert main(["check", str(EVERYTHING)]) == 0
    printed = capsys.readouterr().out
    assert TREE in printed
    mechanism = torseur.load(EVERYTHING)
    for table in ("parameters", "loops", "constraints", "loads", "inputs", "tables", "quantities", "outputs"):
        assert all(f"\n  {name} " in printed or f"\n  {name}\n" in printed for name in getattr(mechanism, table))
    for variable in (*mechanism.q, *mechanism.v):
        assert f"\n  {variable.name} " in printed
        assert variable.meaning in printed
    for heading in ("coordinates q (35)", "speeds v (33)", "parameters set (3)", "parameters without a value (2)"):
        assert f"\n{heading}\n" in printed
    assert "24 degrees of freedom: 33 speeds, 9 equations of which 9 independent" in printed
    assert "from -pi to pi" in printed
    assert "written by hand" in printed


def test_json_holds_the_same(capsys):
    assert main(["check", str(EVERYTHING), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data) == {"file", "mechanism", "mobility", "faults"}
    assert set(data["mechanism"]) == {
        *("name", "title", "gravity", "base", "bodies", "coordinates", "speeds", "loops", "constraints", "loads"),
        *("inputs", "tables", "quantities", "outputs", "parameters", "notes"),
    }
    mechanism = torseur.load(EVERYTHING)
    assert [entry["name"] for entry in data["mechanism"]["coordinates"]] == [variable.name for variable in mechanism.q]
    assert data["mechanism"]["coordinates"][6] == {
        "name": "q1", "owner": "turret", "unit": "rad", "meaning": "rotation about z, by the right-hand rule",
        "start": 0.0, "lower": "-pi", "upper": "pi",
    }  # fmt: skip
    assert data["mechanism"]["parameters"]["set"][2] == {
        "name": "half", "value": 0.25, "formula": "l/2", "unit": None, "description": None,
    }  # fmt: skip
    assert data["mechanism"]["loops"] == [{"name": "cut", "joint": "spherical", "between": ["tip", "kite"], "rows": 3}]
    assert data["mobility"]["degrees_of_freedom"] == 24  # the parameters without a value are no lengths
    assert data["faults"] == []


@pytest.mark.parametrize(("text", "has_mechanism"), [(WRONG, True), (BROKEN, False), ("", False)])
def test_json_holds_faults_and_ends_with_1(here, capsys, text, has_mechanism):
    assert check(here, text, "--json") == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["mechanism"] is not None) == has_mechanism
    assert data["faults"]
    for fault in data["faults"]:
        assert set(fault) == {"severity", "where", "what", "expected", "got", "remedy"}
        assert fault["severity"] == "error"
        assert fault["where"].startswith("arm.yaml:")


def test_a_file_cannot_send_control_characters_to_the_terminal(here, capsys):
    assert check(here, GOOD + 'title: "\\e[31mred\\a"\nnotes: ["\\e]0;title\\a"]\n') == 0
    assert check(here, GOOD + '"\\e[31mred": 1\n') == 1
    assert check(here, GOOD + 'parameters: {p: "1 + \\e[31m"}\n') == 1
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out + printed.err
    assert "\x07" not in printed.out + printed.err


def test_a_long_chain_is_drawn(here, capsys):
    bodies = "".join(f"  b{k}: {{parent: {f'b{k - 1}' if k else 'base'}}}\n" for k in range(2000))
    assert check(here, f"torseur: 1\nname: chain\nbodies:\n{bodies}") == 0
    printed = capsys.readouterr().out
    assert "└─ b1999 fixed" in printed
    assert len(printed) < 500_000


# -- convert -----------------------------------------------------------------------------------------------------------


def test_convert_writes_what_was_read(here, capsys):
    assert main(["convert", str(EVERYTHING), "copy.yaml"]) == 0
    assert torseur.load("copy.yaml") == torseur.load(EVERYTHING)
    assert capsys.readouterr().err == "note: written by hand\n"


def test_convert_does_not_overwrite_unless_forced(here, capsys):
    (here / "out.yaml").write_text("mine")
    assert main(["convert", str(EVERYTHING), "out.yaml"]) == 1
    assert "--force" in capsys.readouterr().err
    assert (here / "out.yaml").read_text() == "mine"
    assert main(["convert", str(EVERYTHING), "out.yaml", "--force"]) == 0
    assert torseur.load("out.yaml") == torseur.load(EVERYTHING)


@pytest.mark.parametrize("out", ["out.yaml", "out.par"])
def test_convert_of_a_wrong_file_writes_nothing(here, out):
    (here / "wrong.yaml").write_text(WRONG)
    assert main(["convert", "wrong.yaml", out]) == 1
    assert [path.name for path in here.iterdir()] == ["wrong.yaml"]


@pytest.mark.parametrize("out", ["out.txt", "out", "no/such/folder/out.yaml"])
def test_convert_to_what_cannot_be_written_leaves_nothing_behind(here, capsys, out):
    assert main(["convert", str(EVERYTHING), out]) == 1
    assert "written" in capsys.readouterr().err
    assert list(here.iterdir()) == []


def test_a_failure_while_writing_leaves_the_old_file(here, monkeypatch):
    (here / "out.yaml").write_text("old")

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(torseur.ArgumentError, match="cannot be written"):
        torseur.save(read_yaml(GOOD), "out.yaml")
    assert {path.name: path.read_text() for path in here.iterdir()} == {"out.yaml": "old"}


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX")
def test_saving_keeps_links_and_the_usual_mode(here):
    (here / "real.yaml").write_text("old")
    (here / "link.yaml").symlink_to("real.yaml")
    torseur.save(read_yaml(GOOD), "link.yaml")
    assert (here / "link.yaml").is_symlink()
    assert torseur.load(here / "real.yaml") == read_yaml(GOOD)
    mask = os.umask(0)
    os.umask(mask)
    torseur.save(read_yaml(GOOD), "new.yaml")
    assert (here / "new.yaml").stat().st_mode & 0o777 == 0o666 & ~mask


# -- schema ------------------------------------------------------------------------------------------------------------


def test_the_schema_is_printed_or_written(here, capsys):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema()
    assert main(["schema", "-o", "torseur.json"]) == 0
    assert json.loads((here / "torseur.json").read_text()) == schema()


# -- what takes numbers ------------------------------------------------------------------------------------------------
FOUR_BAR = EVERYTHING.parents[3] / "examples" / "four_bar" / "four_bar.yaml"


def changed(tmp_path, old, new):
    """The four-bar linkage with a change."""
    text = FOUR_BAR.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "linkage.yaml"
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_degrees_of_freedom_are_counted(capsys):
    assert main(["check", str(FOUR_BAR), "--json"]) == 0
    mobility = json.loads(capsys.readouterr().out)["mobility"]
    assert (mobility["degrees_of_freedom"], mobility["rank"], mobility["singular"]) == (1, 2, False)
    assert main(["check", str(FOUR_BAR)]) == 0
    assert "1 degree of freedom: 3 speeds, 2 equations of which 2 independent" in capsys.readouterr().out


def test_a_loop_that_cannot_close_is_an_error_at_its_line(tmp_path, capsys):
    path = changed(tmp_path, "ground: {value: 1.4,", "ground: {value: 4.0,")
    path.write_text(re.sub(r"value: acos.*", "value: 1.5", path.read_text()))
    line = next(k for k, text in enumerate(path.read_text().splitlines(), 1) if text.startswith("  pin:"))
    assert main(["check", str(path)]) == 1
    printed = capsys.readouterr().out
    assert f"{path}:{line}:3: loops.pin" in printed
    assert "open by 0.8 m" in printed


def test_a_singular_start_is_a_warning_that_says_what_stays_possible(tmp_path, capsys):
    path = changed(tmp_path, "crank: {value: 0.5,", "crank: {value: 1.2,")
    text = path.read_text().replace("coupler: {value: 1.5,", "coupler: {value: 1.4,")
    text = text.replace("start: at_crank", "start: 0").replace("start: pi - at_rocker", "start: 0")
    path.write_text(text)
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "it starts in a singular position" in printed
    assert "2 motions are possible at this instant, 1 more than beside it" in printed
    assert main(["check", str(path), "--strict"]) == 1


def test_redundant_rows_are_said_not_complained_about(tmp_path, capsys):
    twice = "  pin: {joint: revolute, between: [coupler_end, rocker_end]}\n"
    path = changed(tmp_path, twice, twice + twice.replace("pin", "again"))
    assert main(["check", str(path), "--strict"]) == 0
    assert "redundant here: loops.again (x, y); their forces are not unique" in capsys.readouterr().out


def test_constraints_that_contradict_each_other_are_an_error(tmp_path, capsys):
    rows = "".join(
        f"  {n}: {{speeds: {{coefficients: {{dq1: 1}}, equals: {k}}}}}\n" for k, n in enumerate(("slow", "fast"))
    )
    path = changed(tmp_path, "loads:\n", f"constraints:\n{rows}\nloads:\n")
    assert main(["check", str(path)]) == 1
    assert "contradict each other: no speeds satisfy constraints.slow; constraints.fast" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["fixed", "revolute"])
def test_a_chain_of_many_bodies_is_checked_like_any_other(joint, tmp_path, capsys):
    """One body on the other, two thousand times: no limit of recursion is met."""
    lines = ["torseur: 1", "name: deep", "bodies:"]
    for k in range(2000):
        kind = "fixed" if k and joint == "fixed" else f"{{kind: revolute, coordinate: q{k}}}"
        lines += [f"  b{k}:", f"    parent: {f'b{k - 1}' if k else 'base'}", "    mdh: {d: 0.1}", f"    joint: {kind}"]
        lines += ["    inertia: {M: 1, ZZ: 1}"]
    file = tmp_path / "deep.yaml"
    file.write_text("\n".join(lines))
    assert main(["check", str(file)]) == 0
    text = capsys.readouterr().out
    assert "b1999" in text
    assert f"{1 if joint == 'fixed' else 2000} degree" in text


def test_a_tyre_law_is_told_in_a_line_and_whole_in_the_json(capsys):
    car = str(Path(__file__).resolve().parents[2] / "examples" / "peugeot_406" / "peugeot_406.yaml")
    main(["check", car])
    line = next(line for line in capsys.readouterr().out.splitlines() if " tyre " in line)
    assert "and 27 more" in line
    assert len(line) < 300
    main(["check", car, "--json"])
    data = json.loads(capsys.readouterr().out)["mechanism"]
    loads = {each["name"]: each["fields"] for each in data["loads"]}
    assert len(loads["front_left"]["law"]) == 8 + 27
