"""A format of another package works wherever those of the core do."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import torseur as ts
from torseur import extensions
from torseur.describe import Body, Joint, Loop, Mechanism
from torseur.formats import FORMATS, Format, Losses, ModelFile, load, read, save

PACKAGE = """
from torseur.describe import Body, Joint, Mechanism, StandardInertia
from torseur.errors import ModelError
from torseur.extensions import Extension
from torseur.formats import Format


def read_chain(file):
    lines = file.data.decode().split()
    if not lines:
        raise ModelError("an empty chain", where=file.where)
    bodies, parent = {}, "base"
    for kind, mass in (line.split("=") for line in lines):
        name = f"link{len(bodies) + 1}"
        inertia = StandardInertia(M=float(mass), XX=1.0, YY=1.0, ZZ=1.0)
        bodies[name] = Body(parent=parent, joint=Joint(kind=kind), inertia=inertia)
        parent = name
    return Mechanism(name=file.name, bodies=bodies)


def write_chain(mechanism, losses):
    for name in mechanism.loops:
        losses.add(("loops", name), "a chain cannot hold loops", moves=True)
    return " ".join(f"{body.joint.kind}={body.inertia.M}" for body in mechanism.bodies.values())


CHAIN = Format("chains", read_chain, write_chain, loses="anything but joints and masses")
EXTENSION = Extension("chains", formats={".chain": CHAIN})
"""
TEXT = "revolute=2.0 prismatic=1.5"


@pytest.fixture
def chain(monkeypatch):
    """The format, offered by nobody yet."""
    space = {}
    exec(PACKAGE, space)
    monkeypatch.setattr(extensions, "_registered", [])
    return space["EXTENSION"]


@pytest.fixture
def file(tmp_path):
    (tmp_path / "arm.chain").write_text(TEXT)
    return tmp_path / "arm.chain"


def with_loop(mechanism):
    return mechanism.model_copy(update={"loops": {"knot": Loop(joint="revolute", between=("link2", "world"))}})


def test_it_is_read_and_written_once_it_is_registered(chain, file, tmp_path):
    with pytest.raises(ts.ModelError, match="not known") as caught:
        ts.load(file)
    assert ".chain" not in caught.value.expected
    extensions.register(chain)
    arm = ts.load(file)
    assert [body.joint.kind for body in arm.bodies.values()] == ["revolute", "prismatic"]
    assert ts.save(arm, tmp_path / "copy.chain") == ()
    assert (tmp_path / "copy.chain").read_text() == TEXT
    ts.save(arm, tmp_path / "arm.yaml")
    assert ts.load(tmp_path / "arm.yaml") == arm
    assert ts.load(file, base="floating").base.kind.value == "floating"


def test_a_table_may_be_handed_in_for_one_call(chain, file, tmp_path):
    formats = FORMATS | chain.formats
    arm = load(file, formats=formats)
    assert save(arm, tmp_path / "copy.chain", formats=formats) == ()
    assert load(tmp_path / "copy.chain", formats=chain.formats).bodies == arm.bodies
    with pytest.raises(ts.ModelError, match="not known"):
        load(file)


def test_what_it_cannot_hold_is_refused_or_left_out_as_in_other_formats(chain, file, tmp_path):
    formats = FORMATS | chain.formats
    tied = with_loop(load(file, formats=formats))
    with pytest.raises(ts.ModelError, match="cannot hold loops") as caught:
        save(tied, tmp_path / "tied.chain", formats=formats)
    assert caught.value.where == "loops.knot"
    assert not (tmp_path / "tied.chain").exists()
    notes = save(tied, tmp_path / "tied.chain", lossy=True, formats=formats)
    assert notes == ("left out, so that it moves otherwise: a chain cannot hold loops (loops.knot)",)


def test_what_it_reads_is_checked(chain, tmp_path):
    (tmp_path / "arm.chain").write_text("revolute=-2")
    with pytest.raises(ts.ModelError, match="a negative mass") as caught:
        load(tmp_path / "arm.chain", formats=chain.formats)
    assert caught.value.where == f"{tmp_path / 'arm.chain'}: bodies.link1.inertia.M"


def test_a_format_may_be_read_only_or_written_only(tmp_path):
    (tmp_path / "a.in").write_text("")
    formats = {
        ".in": Format("in", lambda file: Mechanism(name=file.name)),
        ".out": Format("out", write=lambda m, _: ""),
    }
    with pytest.raises(ts.ModelError, match="not written") as caught:
        save(load(tmp_path / "a.in", formats=formats), tmp_path / "a.in", formats=formats)
    assert caught.value.expected == "one of .out"
    with pytest.raises(ts.ModelError, match="not known") as caught:
        read(tmp_path / "a.out", formats=formats)
    assert caught.value.expected == "one of .in"


def test_a_reader_is_given_the_file_and_the_kinds_of_loads_it_may_hold(tmp_path):
    (tmp_path / "a.x").write_bytes(b"abc")
    seen = []

    def reader(file: ModelFile) -> Mechanism:
        seen.append(file)
        return Mechanism(name=file.name, bodies={"a": Body(joint=Joint(kind="revolute"))})

    read(tmp_path / "a.x", formats={".x": Format("x", reader)}, loads={})
    (file,) = seen
    assert (file.path, file.data, file.name, file.loads) == (tmp_path / "a.x", b"abc", "a", {})


def test_losses_take_a_path_or_words():
    losses = Losses(lossy=True)
    losses.add(("bodies", "a", "shapes", 0), "shapes")
    losses.add("the rest", "shapes")
    assert losses.notes == ("left out: shapes (bodies.a.shapes[0], the rest)",)


@pytest.mark.slow
def test_the_command_line_checks_converts_and_simulates_it(file, tmp_path):
    (tmp_path / "my_chains.py").write_text(PACKAGE)
    info = tmp_path / "my_chains-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my_chains\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[torseur.extensions]\nchains = my_chains:EXTENSION\n")
    (tmp_path / "study.yaml").write_text("torseur_study: 1\nmodel: arm.chain\nuntil: 0.1\n")
    path = os.pathsep.join([str(tmp_path), *([os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else [])])

    def torseur(*arguments):
        command = [sys.executable, "-m", "torseur", *map(str, arguments)]
        done = subprocess.run(
            command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "link2" in torseur("check", file)
    assert ".chain cannot hold anything but joints and masses." in torseur("convert", "--help")
    torseur("convert", file, tmp_path / "arm.yaml")
    torseur("convert", tmp_path / "arm.yaml", tmp_path / "again.chain")
    assert (tmp_path / "again.chain").read_text() == TEXT
    torseur("simulate", tmp_path / "study.yaml", "-o", tmp_path / "out", "--no-figures", "--no-playback")
    assert list((tmp_path / "out").iterdir())


def test_the_reference_lists_the_formats_and_what_they_lose():
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
    for ending, format_ in FORMATS.core.items():
        row = next(line for line in page.splitlines() if f"`{ending}`" in line and line.startswith("|"))
        written, loses = row.split("|")[4:6]
        assert (written.strip() == "yes") == (format_.write is not None)
        assert loses.strip() == format_.loses
