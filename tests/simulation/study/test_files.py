"""Study files: what they mean, what is wrong with them and where, and what is written comes back."""

import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import torseur as ts
from support.example_files import STUDIES
from support.json_schema import fits
from torseur.describe.fields import FrozenDict
from torseur.errors import ModelError, NumericalError
from torseur.formats.yaml.nodes import Source, parse, plain
from torseur.simulation.blocks import KINDS, Constant, FormulaSignal, PythonBlock, Recorded, block_of
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.study.checks import faults
from torseur.simulation.study.reader import StudyFile, load_study, read_study, study_of_text
from torseur.simulation.study.study import Study
from torseur.simulation.study.writer import study_reference, study_schema, study_text, write_study

ROOT = Path(__file__).resolve().parents[3]
MODEL = """\
  name: slide
  gravity: [0, 0, 0]
  parameters: {k: 2, j: 2*k}
  inputs: {f: {unit: N}, g: {unit: N m}}
  bodies:
    cart: {joint: {kind: prismatic, coordinate: x}, inertia: {M: 2}}
    arm: {parent: cart, joint: {kind: revolute, coordinate: q}, inertia: {ZZ: 1}, frames: {tip: [1, 0, 0]}}
  loads: {push: {effort: {coordinate: x, value: f}}, turn: {effort: {coordinate: q, value: g}}}
"""
HEAD = f"torseur_study: 1\nmodel:\n{MODEL}"
LINE = HEAD.count("\n") + 1
"""The line after it."""


def study(text: str) -> Study:
    return study_of_text(HEAD + text).study


def build(text: str | bytes, folder: Path | None) -> None:
    file = study_of_text(text, "s.yaml", folder)
    with file.told():
        ts.Simulation(file.study, file.folder)


def found(text: str | bytes, folder: Path | None = None) -> list[str]:
    """The first lines of all faults, without the name of the file; those of the build too."""
    with pytest.raises(ModelError) as caught:
        build(text, folder)
    every = caught.value.faults or (caught.value,)
    return [str(fault).partition("\n")[0].removeprefix("s.yaml:") for fault in every]


# -- what they mean ----------------------------------------------------------------------------------------------------


def test_a_file_means_what_the_record_of_the_same_fields_means():
    read = study(
        """\
start: {x: 0.1, q: 30*deg}
inputs: {f: 3, g: sin(t)}
blocks: {hand: {pose: tip}, smooth: {lag: {value: x, time: 0.1}}}
until: 2
solver: rk4
friction: smooth
stops: {model: hard, restitution: 0.5}
outputs: {height: x*k}
changes: [{at: 1, set: {k: 3}}]
"""
    )
    assert read == Study(
        model=read.model,
        start={"x": 0.1, "q": 0.5235987755982988},
        inputs={"f": 3.0, "g": "sin(t)"},
        blocks={"hand": {"pose": {"frame": "tip"}}, "smooth": {"lag": {"value": "x", "time": 0.1}}},
        until=2.0,
        solver={"method": "rk4"},
        friction={"model": "smooth"},
        stops={"model": "hard", "restitution": 0.5},
        outputs={"height": {"value": "x*k"}},
        changes=({"at": 1.0, "set": {"k": 3.0}},),
    )


def test_an_inline_model_is_the_model_of_its_own_file(tmp_path):
    (tmp_path / "slide.yaml").write_text("torseur: 1\n" + "\n".join(line[2:] for line in MODEL.splitlines()))
    assert study("").model == ts.load(tmp_path / "slide.yaml")
    assert study_of_text(HEAD.replace("  name", "  torseur: 1\n  name")).study.model == study("").model


def test_a_model_by_name_counts_from_the_folder_of_the_study(tmp_path, monkeypatch):
    (tmp_path / "models").mkdir()
    ts.save(study("").model, tmp_path / "models" / "slide.yaml")
    (tmp_path / "a.yaml").write_text("torseur_study: 1\nmodel: models/slide.yaml\nuntil: 3\n")
    monkeypatch.chdir(tmp_path.parent)
    assert load_study(tmp_path / "a.yaml") == Study(model=study("").model, until=3.0)


@pytest.mark.parametrize("ending", [".par", ".urdf"])
def test_models_of_other_formats_can_be_named(ending, tmp_path):
    source = min((ROOT / "tests" / "data").rglob(f"*{ending}"))
    target = tmp_path / f"model{source.suffix}"
    target.write_bytes(source.read_bytes())
    (tmp_path / "a.yaml").write_text(f"torseur_study: 1\nmodel: {target.name}\n")
    assert load_study(tmp_path / "a.yaml").model == ts.load(target)


def test_a_model_file_alone_is_a_study_with_defaults():
    path = ROOT / "examples" / "double_pendulum" / "double_pendulum.yaml"
    assert load_study(path) == Study(model=ts.load(path))


def test_a_study_is_no_model(tmp_path):
    (tmp_path / "a.yaml").write_text(HEAD)
    with pytest.raises(ModelError, match=r"a\.yaml:1:1: this is a study, not a model"):
        ts.load(tmp_path / "a.yaml")


def test_simulate_takes_the_name_of_a_file_and_keeps_what_it_says(tmp_path):
    (tmp_path / "push.csv").write_text("0, 2\n10, 2\n")
    text = HEAD + "inputs: {f: {table: {file: push.csv}}}\nuntil: 2\nevery: 1\n"
    (tmp_path / "a.yaml").write_text(text)
    run = ts.simulate(tmp_path / "a.yaml")
    assert run["x"] == pytest.approx([0.0, 0.5, 2.0])  # x = f t^2 / (2 M)
    assert ts.simulate(tmp_path / "a.yaml", until=1.0)["x"] == pytest.approx([0.0, 0.5])
    assert ts.simulate(load_study(tmp_path / "a.yaml"))["x"] == pytest.approx([0.0, 0.5, 2.0])


# -- what is wrong, and where ------------------------------------------------------------------------------------------

WRONG = [
    ("sover: rk4\n", "{}:1: sover: unknown key"),
    ("until: 1\nuntil: 2\n", "{1}:1: until: this key is already given"),
    ("until: soon\n", "{}:8: until: expected a number or a formula without names, got soon"),
    ("until: 2*(3\n", "{}:8: until: the formula is incomplete"),
    ("until: true\n", "{}:8: until: expected a number or a formula, got True"),
    ("until: -1\n", "{}:8: until: the end (-1 s) must come after the begin (0 s)"),
    ("begin: 20\n", "1:1: the end (10 s) must come after the begin (20 s)"),
    ("every: 0\n", "{}:8: every: expected more than 0"),
    ("name: [a]\n", "{}:1: name: expected text"),
    ("start: 3\n", "{}:8: start: expected a mapping of names"),
    ("start: {y: 1}\n", "{}:12: start.y: no coordinate or speed 'y'"),
    ("start: {x: 1, dz: 0}\n", "{}:19: start.dz: no coordinate or speed 'dz'"),
    ("guess: {y: 1}\n", "{}:12: guess.y: no coordinate or speed 'y'"),
    ("start: {x: 1}\nguess: {x: 2}\n", "{1}:12: guess.x: 'x' is also in start"),
    ("start_from: given\nguess: {x: 2}\n", "{1}:12: guess.x: nothing moves in a start that is given"),
    ("start_from: equilibrium\nstart: {dx: 2}\n", "{1}:13: start.dx: a start at rest has no speeds"),
    ("start_from: equilibrium\nguess: {dx: 2}\n", "{1}:13: guess.dx: a start at rest has no speeds"),
    ("start_from: there\n", "{}:13: start_from: expected 'assembled', 'equilibrium' or 'given'"),
    ("parameters: {m: 1}\n", "{}:17: parameters.m: no parameter 'm'"),
    ("parameters: {j: 1}\n", "{}:17: parameters.j: the parameter 'j' is a formula of others"),
    ("solver: rk5\n", "{}:9: solver: no method 'rk5'"),
    ("solver: {method: rk4, step: -1}\n", "{}:29: solver.step: expected more than 0"),
    ("solver: {steps: 1.5}\n", "{}:17: solver.steps: expected a whole number"),
    ("solver: {tol: 1}\n", "{}:10: solver.tol: unknown key"),
    ("friction: icy\n", "{}:11: friction: expected 'stick', 'smooth' or 'sign'"),
    ("stops: {restitution: 2}\n", "{}:22: stops.restitution: expected at most 1"),
    ("inputs: 3\n", "{}:9: inputs: expected a mapping of names"),
    ("inputs: {h: 1}\n", "{}:10: inputs.h: no input 'h'"),
    ("inputs: {1f: 1}\n", "{}:10: inputs.1f: expected a name"),
    ("inputs: {f: {stp: {after: 3}}}\n", "{}:14: inputs.f.stp: no kind of block 'stp'"),
    ("inputs: {f: {step: {aftr: 3}}}\n", "{}:21: inputs.f.step.aftr: unknown key"),
    ("inputs: {f: {step: 3}}\n", "{}:20: inputs.f.step: a block of this kind needs its fields by name"),
    ("inputs: {f: {step: {}, ramp: {}}}\n", "{}:13: inputs.f: a block has exactly one kind"),
    ("inputs: {f: '2*(x +'}\n", "{}:13: inputs.f: the formula is incomplete"),
    ("inputs: {f: 2*dy}\n", "{}:13: inputs.f: unknown name 'dy'"),
    ("inputs: {f: [1, 2]}\n", "{}:13: inputs.f: this is not a block"),
    ("inputs: {f: }\n", "{}:13: inputs.f: this is not a block"),
    ("inputs: {f: {ramp: {}}}\n", "{}:20: inputs.f.ramp: a ramp needs a slope"),
    ("inputs: {f: 1}\nblocks: {f: 2}\n", "{1}:1: blocks: both an input and a block: f"),
    ("blocks: {a: {pd: {value: x, kp: 1}}}\n", "{}:18: blocks.a.pd: 'rate' is missing"),
    ("blocks: {a: {pose: tap}}\n", "{}:20: blocks.a.pose: no frame 'tap'"),
    ("blocks: {a: {lag: {value: x, time: -1}}}\n", "{}:10: blocks.a.lag: the time constant is too small"),
    ("blocks: {x: 3}\n", "{}:10: blocks.x: the name 'x' is taken"),
    ("blocks: {a: b + 1, b: a + 1}\n", "{}:1: blocks: an algebraic loop: these blocks"),
    (
        "blocks: {a: {python: {function: f, period: 1}}}\n",
        "{}:33: blocks.a.python.function: expected a Python function",
    ),
    ("blocks: {a: {spline: {times: [0, 1], values: [0]}}}\n", "{}:38: blocks.a.spline.values: the list is too short"),
    ("outputs: {p: vx}\n", "{}:14: outputs.p: unknown name 'vx'"),
    ("outputs: {k: x}\n", "{}:11: outputs.k: the name 'k' is taken"),
    ("changes: [{set: {k: 1}}]\n", "{}:11: changes[0]: give exactly one of at, event"),
    ("changes: [{at: 1, set: {m: 1}}]\n", "{}:28: changes[0].set.m: no parameter 'm'"),
    ("changes: [{at: 1, stop: yes}]\n", "{}:25: changes[0].stop: expected true or false"),
    ("changes: [{event: bang}]\n", "{}:19: changes[0].event: no event 'bang'"),
    ("begin: 1\nchanges: [{at: 0.5}]\n", "{1}:16: changes[0].at: a change before the study begins"),
]


@pytest.mark.parametrize(("text", "expected"), WRONG, ids=[text.strip() for text, _ in WRONG])
def test_a_wrong_field_is_told_with_line_column_and_path(text, expected):
    lines = found(HEAD + text)
    assert len(lines) == 1
    assert lines[0].startswith(expected.format(LINE, LINE + 1))


def test_all_faults_are_told_at_once_in_the_order_of_the_file():
    text = HEAD.replace("parent: cart", "parent: cat") + "start: {y: 1}\ninputs: {f: {stp: 1}}\nuntil: x\nuntl: 3\n"
    lines = found(text)
    assert [line.partition(": ")[2].partition(":")[0] for line in lines] == [
        "model.bodies.arm.parent",
        "inputs.f.stp",
        "until",
        "untl",
    ]


def test_a_block_that_could_not_be_read_is_not_missed_elsewhere():
    (line,) = found(HEAD + "blocks: {a: {lagg: {}}, b: 2*a}\n")
    assert line.startswith(f"{LINE}:14: blocks.a.lagg")


MODELS = [
    ("model: 3\n", "2:8: model: expected the name of a file, or a model"),
    ("until: 3\n", "1:1: model: 'model' is missing"),
    ("model: absent.yaml\n", "2:8: model: the file cannot be read"),
    ("model: a.doc\n", "2:8: model: a file of a kind that is not known"),
    ("model: {name: a, bodies: {b: {joit: 3}}}\n", "2:31: model.bodies.b.joit: unknown key"),
    ("model: {name: a, bodies: {b: {parent: c}}}\n", "2:39: model.bodies.b.parent: no body 'c'"),
    ("model: {bodies: {}}\n", "2:8: model: 'name' is missing"),
    ("model: {torseur: 2, name: a}\n", "2:18: a version of the format that is not known"),
    ("model: {name: a}\nmodel: {name: a}\n", "3:1: model: this key is already given"),
    ("torseur: 1\nmodel: {name: a}\n", "2:1: torseur: unknown key"),
]


@pytest.mark.parametrize(("text", "expected"), MODELS, ids=[text.strip() for text, _ in MODELS])
def test_a_wrong_model_is_told_with_its_place(text, expected, tmp_path):
    assert found(f"torseur_study: 1\n{text}", tmp_path)[0].startswith(expected)


def test_faults_of_a_model_file_stand_in_that_file(tmp_path):
    (tmp_path / "m.yaml").write_text("torseur: 1\nname: m\nbodies: {a: {parent: bse}}\n")
    lines = found("torseur_study: 1\nmodel: m.yaml\nstart: {q: 1, q: 2}\n", tmp_path)
    assert lines[0].startswith(f"{tmp_path / 'm.yaml'}:3:22: bodies.a.parent: no body 'bse'")
    assert lines[1].startswith("3:15: start.q: this key is already given")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"model: {name: a}\n", "1:1: the version of the format is missing"),
        (b"torseur_study: 2\nmodel: {name: a}\n", "1:16: a version of the format that is not known"),
        (b"torseur_study: true\nmodel: {name: a}\n", "1:16: a version of the format that is not known"),
        (b"[1]\n", "1:1: this is not a study"),
        (b"torseur_study: 1\nmodel: \xff\n", "2:8: the file is not UTF-8"),
        (b"torseur_study: 1\nmodel: {\n", "3:1: this is not YAML"),
        (b"torseur_study: 1\nmodel: !!python/name:os.system {}\n", "2:8: model: tags (!) are not accepted"),
        (b"torseur_study: 1\nmodel: " + b"[" * 60 + b"]" * 60, "2:57: the file is nested too deeply"),
    ],
)
def test_what_is_no_study_at_all_is_refused_with_its_place(text, expected):
    assert found(text)[0].startswith(expected)


def test_a_missing_file_of_a_block_is_named(tmp_path):
    (tmp_path / "a.yaml").write_text(HEAD + "inputs: {f: {table: {file: absent.csv}}}\n")
    with pytest.raises(ModelError, match="cannot be read") as caught:
        ts.simulate(tmp_path / "a.yaml")
    assert str(tmp_path / "absent.csv") in str(caught.value)


def test_a_start_from_which_nothing_moves_is_told_with_its_line(tmp_path):
    text = HEAD.replace("value: f", "value: -1/x") + "start: {x: 0}\n"
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises((ModelError, NumericalError), match=rf"a\.yaml:{LINE}:1: start: the run cannot begin"):
        ts.simulate(tmp_path / "a.yaml")


def test_errors_from_elsewhere_keep_their_kind():
    file = StudyFile(study(""), Path())
    with pytest.raises(NumericalError), file.told():
        raise NumericalError("nothing of the file", where="start")
    file = study_of_text(HEAD)
    with pytest.raises(NumericalError), file.told():
        raise NumericalError("nothing of the file", where="t = 3 s")


# -- what is written comes back ----------------------------------------------------------------------------------------

BLOCKS = {
    "constant": {"value": "k"},
    "step": {"time": 1, "after": "2*k"},
    "ramp": {"slope": 0.1},
    "sine": {"amplitude": 2, "phase": "30*deg"},
    "sweep": {"begin": 1, "end": 5, "duration": 3, "law": "logarithmic"},
    "spline": {"times": [0, 1, 2.5], "values": [0, 1e-17, -3], "ends": "clamped"},
    "table": {"file": "a b.csv", "column": "force, N", "time_column": 2},
    "noise": {"period": 0.1, "seed": 2**62 + 1},
    "band_noise": {"highest": 3, "count": 7},
    "formula": {"value": 2.0, "breaks": [1, "k"]},
    "move": {"end": 1, "duration": 2},
    "trapezoid": {"end": 1, "speed": 2, "acceleration": 3},
    "point_to_point": {"begin": {"x": 0}, "end": {"x": "k"}, "duration": 1},
    "line": {"begin": [0, 0, 0], "end": [1, "k", 0], "duration": 1},
    "circle": {"centre": [0, 0, 0], "radius": 1, "duration": 1},
    "pd": {"value": "x", "rate": "dx", "kp": 3, "lower": -1},
    "pid": {"value": "x", "ki": 0.1},
    "integral": {"value": "x", "gain": 2.0},
    "lag": {"value": "x", "time": 0.1},
    "second_order": {"value": "x", "frequency": 3},
    "transfer_function": {"value": "x", "numerator": [1], "denominator": [1, 2], "settled": True},
    "delay": {"value": "x", "time": 0.1, "points": 5},
    "rate_limit": {"value": "x", "up": 1},
    "saturation": {"value": "x", "locate": True},
    "dead_zone": {"value": "x", "upper": 0.1},
    "crossing": {"value": "x", "level": 0.1},
    "sampled": {"value": "x", "period": 0.01},
    "external": {"inputs": ["x", "dx"], "outputs": ["a", "b"], "period": 0.01, "start": [0, "k"]},
    "computed_torque": {"reference": {"x": "sin(t)"}, "kp": {"x": 4}, "limit": 100},
    "pd_regulator": {"target": {"x": 1, "q": 0}, "kp": 1, "kd": {"x": 1, "q": 2}},
    "operational_space": {"frame": "tip", "position": {"x": 1}, "kp": 4},
    "resolved_acceleration": {"frame": "tip", "position": {"x": "t"}, "kp": 4},
    "resolved_rate": {"frame": "tip", "position": {"x": "t"}, "k": 4, "servo": 9},
    "pose": {"frame": "tip"},
    "velocity": {"frame": "tip", "axes": "world"},
    "acceleration": {"frame": "tip"},
    "imu": {"frame": "tip", "period": 0.01, "seed": 3},
    "force_sensor": {"joint": "arm"},
    "armature": {"voltage": "k", "speed": "dx", "resistance": 1, "constant": 2},
    "force": {"speed": "dx", "value": "-dx"},
}


def round_trip(given: Study) -> None:
    text = study_text(given)
    assert study_of_text(text).study == given
    assert fits(plain(parse(text, Source("s.yaml"))), SCHEMA, SCHEMA)


SCHEMA = study_schema()
SLIDE = study("").model


def test_blocks_of_every_kind_come_back_equal():
    assert BLOCKS.keys() == KINDS.core.keys() - {"python"}
    round_trip(Study(model=SLIDE, blocks={f"b_{kind}": {kind: fields} for kind, fields in BLOCKS.items()}))


numbers = st.one_of(st.floats(-1e100, 1e100), st.integers(-(10**6), 10**6).map(float))
positive = st.floats(1e-300, 1e100)
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40)
blocks = st.one_of(
    numbers.map(lambda x: Constant(value=x)),
    st.sampled_from(["k*x", "sin(t)", "if(t < 1, 2, atan2(x, 1))"]).map(lambda text: FormulaSignal(value=text)),
    st.sampled_from(sorted(BLOCKS)).map(lambda kind: block_of({kind: BLOCKS[kind]})),
)
outputs = st.sampled_from([{"value": "x"}, {"value": 1.0, "unit": "m"}])
changes = st.sampled_from([{"at": 1.0, "set": {"k": 2.0}}, {"event": "a", "stop": True}])
studies = st.fixed_dictionaries(
    {},
    optional={
        "name": texts,
        "title": texts,
        "parameters": st.fixed_dictionaries({"k": numbers}),
        "start": st.dictionaries(st.sampled_from(["x", "q", "dx", "dq"]), numbers),
        "guess": st.dictionaries(st.sampled_from(["x", "q", "dx", "dq"]), numbers),
        "start_from": st.sampled_from(["assembled", "equilibrium", "given"]),
        "inputs": st.dictionaries(st.sampled_from(["f", "g"]), blocks),
        "blocks": st.dictionaries(st.sampled_from(["a", "b2", "yes", "null"]), blocks),
        "begin": st.floats(-100.0, 0.0),
        "until": st.floats(1e-3, 1e3),
        "every": st.none() | st.floats(1e-4, 1e100),
        "solver": st.builds(
            lambda method, step, rtol, steps: {"method": method, "step": step, "rtol": rtol, "steps": steps},
            st.sampled_from(sorted(METHODS)),
            st.none() | st.floats(1e-12, 1e100),
            st.floats(0, 1),
            st.integers(1, 10**12),
        ),
        "friction": st.sampled_from([{"model": "sign"}, {"width": 0.1}, {"model": "smooth", "width": 1e-5}]),
        "stops": st.sampled_from([{"model": "hard"}, {"model": "hard", "restitution": 0.3}]),
        "outputs": st.dictionaries(st.sampled_from(["y", "z"]), outputs),
        "changes": st.lists(changes, max_size=2),
        "audit": positive,
    },
)


@given(studies)
def test_any_study_comes_back_equal_and_fits_the_schema(fields):
    study = Study(model=SLIDE, **fields)
    assume(not faults(study))
    round_trip(study)


def test_a_python_function_cannot_be_written(tmp_path):
    block = PythonBlock(function=lambda t: 0.0, period=0.1)
    with pytest.raises(ModelError, match="cannot hold a Python function") as caught:
        write_study(Study(model=SLIDE, blocks={"mine": block}), tmp_path / "a.yaml")
    assert caught.value.where == "blocks.mine"
    assert list(tmp_path.iterdir()) == []


def test_only_yaml_is_written(tmp_path):
    with pytest.raises(ModelError, match="not written in this format"):
        write_study(Study(model=SLIDE), tmp_path / "a.json")


def test_a_loaded_study_written_elsewhere_finds_its_files(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "push.csv").write_text("0, 2\n10, 2\n")
    (tmp_path / "a" / "s.yaml").write_text(HEAD + "inputs: {f: {table: {file: push.csv}}}\nuntil: 1\n")
    write_study(load_study(tmp_path / "a" / "s.yaml"), tmp_path / "b" / "s.yaml")
    assert ts.simulate(tmp_path / "b" / "s.yaml")["x"][-1] == pytest.approx(0.5)
    kept = read_study(tmp_path / "a" / "s.yaml").study.inputs["f"]
    assert isinstance(kept, Recorded)
    assert kept.file == "push.csv"


def test_a_study_stays_frozen_after_its_files_are_anchored(tmp_path):
    (tmp_path / "s.yaml").write_text(HEAD + "inputs: {f: {table: {file: push.csv}}}\n")
    assert isinstance(load_study(tmp_path / "s.yaml").inputs, FrozenDict)
    hash(load_study(tmp_path / "s.yaml").inputs)


# -- the schema and the page -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", STUDIES.values(), ids=STUDIES)
def test_the_studies_of_the_examples_fit_the_schema(path):
    assert fits(plain(parse(path.read_bytes(), Source(path.name))), SCHEMA, SCHEMA)


NOT_FITTING = [
    "until: true",
    "sover: rk4",
    "solver: rk5",
    "inputs: {f: {stp: {}}}",
    "inputs: {f: {step: {aftr: 3}}}",
    "inputs: {f: [1]}",
    "blocks: {a: {python: {function: f, period: 1}}}",
    "blocks: {a: {pd: {value: x, kp: 1}}}",
    "changes: [{at: 1, stop: 3}]",
    "start: 3",
]


@pytest.mark.parametrize("text", NOT_FITTING)
def test_what_is_wrong_does_not_fit_the_schema(text):
    assert not fits(plain(parse(f"{HEAD}{text}\n", Source("s.yaml"))), SCHEMA, SCHEMA)


def test_the_schema_is_json_and_uses_all_it_defines():
    text = json.dumps(SCHEMA)
    assert [name for name in SCHEMA["$defs"] if f'"#/$defs/{name}"' not in text] == []
    assert [name for name, entry in SCHEMA["$defs"].items() if not entry.get("description")] == []


def test_the_page_of_fields_is_up_to_date():
    page = (ROOT / "docs" / "reference" / "studies.md").read_text(encoding="utf-8")
    assert page.partition("<!-- fields -->\n\n")[2] == study_reference(), "run: torseur schema --of study --markdown"
