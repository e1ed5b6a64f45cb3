"""``torseur simulate`` and ``compare``: what they print and write, how they end, and that nothing is half there."""

import json
import signal
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

import torseur as ts
from support.processes import start
from torseur.cli import main, results, simulate
from torseur.emit import source
from torseur.errors import MissingExtra
from torseur.simulation.results.result import Run

SLIDE = """\
torseur_study: 1
name: push
model:
  name: slide
  gravity: [0, 0, 0]
  parameters: {m: 2}
  inputs: {f: {unit: N}}
  bodies: {cart: {joint: {kind: prismatic, coordinate: x}, inertia: {M: m}}}
  loads: {push: {effort: {coordinate: x, value: f}}}
inputs: {f: 4}
until: 1
every: 0.1
"""
PENDULUM = Path(__file__).resolve().parents[2] / "examples" / "double_pendulum" / "double_pendulum.yaml"
BARE = ("--no-figures", "--no-playback")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "push.yaml").write_text(SLIDE)
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def summary(folder: Path) -> dict:
    return json.loads((folder / "summary.json").read_text())


# -- inputs ------------------------------------------------------------------------------------------------------------


def test_another_number_for_an_input_compiles_nothing(here, monkeypatch):
    assert main(["simulate", "push.yaml", "-o", "first", *BARE]) == 0
    compiled = []
    monkeypatch.setattr(source, "assemble", lambda *given: compiled.append(given))
    assert main(["simulate", "push.yaml", "-o", "second", *BARE, "--set", "f=2*pi"]) == 0
    assert not compiled
    assert ts.open_run(here / "second" / "run.nc")["x"][-1] == pytest.approx(3.141592653589793 / 2.0)


def test_what_cannot_drive_a_constraint_is_told_with_its_line_and_remedy(here, capsys):
    driven = SLIDE.replace("  loads:", "  constraints: {held: {prescribed: {coordinate: x, equals: f}}}\n  loads:")
    (here / "driven.yaml").write_text(driven.replace("{f: 4}", "{f: 0.1*dx}"))
    assert main(["simulate", "driven.yaml", *BARE]) == 1
    printed = capsys.readouterr().err
    assert "driven.yaml:11:10: inputs.f: what gives the input 'f' cannot drive a constraint" in printed
    assert "put an integral, a lag or a second_order filter between" in printed
    (here / "driven.yaml").write_text(
        driven.replace("{f: 4}", "{f: {second_order: {value: 0.1*dx + t, frequency: 1}}}")
    )
    assert main(["simulate", "driven.yaml", "-o", "good", *BARE]) == 0


# -- what is written ---------------------------------------------------------------------------------------------------


def test_the_results_are_those_of_the_study(here, capsys):
    assert main(["simulate", "push.yaml", "-o", "a/b", *BARE]) == 0
    assert names(here / "a" / "b") == {"run.nc", "study.yaml", "summary.json"}
    run = ts.open_run(here / "a" / "b" / "run.nc")
    assert run["x"][-1] == pytest.approx(1.0)  # f t^2 / (2 m)
    printed = capsys.readouterr()
    assert "push: 0 to 1 s, 11 instants" in printed.out
    assert "audit holds: energy" in printed.out
    assert "written to a/b:" in printed.out


def test_what_check_warns_of_is_a_line_of_simulate_too(here, capsys):
    (here / "push.yaml").write_text(SLIDE.replace("{m: 2}", "{m: 2, l: {value: 50, unit: mm}}"))
    assert main(["simulate", "push.yaml", "-o", "a", *BARE]) == 0
    [warning] = [line for line in capsys.readouterr().err.splitlines() if line.startswith("warning")]
    assert warning.startswith("warning: parameters.l.unit: the unit 'mm' is a label and converts nothing; 50")
    assert "0.05" in warning


def test_the_study_that_is_written_gives_the_same_run(here):
    (here / "force.csv").write_text("0, 1\n1, 3\n")
    (here / "push.yaml").write_text(SLIDE.replace("{f: 4}", "{f: {table: {file: force.csv}}}"))
    main(["simulate", "push.yaml", "-o", "a", "--set", "m=3", "--until", "2", *BARE])
    main(["simulate", "a/study.yaml", "-o", "b", *BARE])
    assert main(["compare", "a", "b", "--tolerance", "0"]) == 0


def test_figures_are_drawn_and_a_later_run_without_them_leaves_none(here, capsys):
    pytest.importorskip("matplotlib")
    (here / "a").mkdir()
    (here / "a" / "mine.txt").write_text("kept")
    (here / "a" / "figures").mkdir()
    (here / "a" / "figures" / "mine.png").write_bytes(b"kept")
    assert main(["simulate", "push.yaml", "-o", "a", "--no-playback"]) == 0
    assert {"figures/coordinates.png", "figures/energies.png", "figures/audit.png"} <= names(here / "a")
    assert main(["simulate", "push.yaml", "-o", "a", "--format", "csv,res", *BARE]) == 0
    kept = {"mine.txt", "figures/mine.png"}
    assert names(here / "a") == {"run.csv", "run.res", "study.yaml", "summary.json"} | kept
    assert "figures" not in capsys.readouterr().out.rpartition("written to")[2]


def test_the_playback_is_one_page(here):
    pytest.importorskip("viser")
    assert main(["simulate", "push.yaml", "-o", "a", "--no-figures"]) == 0
    assert "<html" in (here / "a" / "playback.html").read_text(encoding="utf-8")[:500].lower()


def test_by_default_the_folder_is_called_after_the_file(here):
    assert main(["simulate", "push.yaml", *BARE]) == 0
    assert names(here / "push_results") >= {"run.nc", "summary.json"}


def test_a_model_alone_is_simulated(here):
    assert main(["simulate", str(PENDULUM), "-o", "a", "--until", "0.1", *BARE]) == 0
    assert summary(here / "a")["audit"]["holds"]


# -- what the command line changes -------------------------------------------------------------------------------------


def test_set_finds_parameters_starts_and_inputs_by_name(here):
    pairs = ["m=1/2", "x=-pi", "dx=0.5", "f=2*cos(t)"]
    main(["simulate", "push.yaml", "-o", "a", *BARE, *(part for pair in pairs for part in ("--set", pair))])
    study = ts.load_study(here / "a" / "study.yaml")
    assert study.parameters == {"m": 0.5}
    assert study.start == {"x": -3.141592653589793, "dx": 0.5}
    assert study.inputs["f"].value.text == "2*cos(t)"


def test_until_every_solver_and_step_take_the_place_of_the_file(here):
    options = ["--until", "0.5", "--every", "0.25", "--solver", "rk4", "--step", "0.05"]
    main(["simulate", "push.yaml", "-o", "a", *BARE, *options])
    run = ts.open_run(here / "a" / "run.nc")
    assert list(run.time) == [0.0, 0.25, 0.5]
    assert (run.info["step"], run.info["steps"]) == (0.05, 10)


WRONG = [
    (["--set", "y=1"], "'y' is not a parameter, coordinate, speed or input"),
    (["--set", "x"], "not a pair"),
    (["--set", "x=t"], "the value of 'x' is not a number"),
    (["--set", "x=2*("], "the value of 'x' is not a number"),
    (["--set", "f=2*("], "the value of 'f' is not a formula"),
    (["--solver", "rk5"], "did you mean 'rk4'?"),
    (["--format", "mat"], "expected: nc, csv, res"),
    (["--format", ","], "expected: nc, csv, res"),
    (["--until", "-1"], "must come after the begin"),
    (["--every", "0"], "greater than 0"),
    (["-o", "push.yaml"], "the folder of results cannot be written to"),
    (["-o", "push.yaml/a"], "the folder of results cannot be written to"),
]


@pytest.mark.parametrize(("options", "expected"), WRONG, ids=[" ".join(options) for options, _ in WRONG])
def test_a_wrong_option_ends_with_1_says_why_and_writes_nothing(options, expected, here, capsys):
    assert main(["simulate", "push.yaml", *BARE, *options]) == 1
    assert expected in capsys.readouterr().err
    assert names(here) == {"push.yaml"}


def test_faults_of_the_study_are_told_with_their_lines(here, capsys):
    text = SLIDE + "start: {y: 3}\nevery: 2\n"
    (here / "push.yaml").write_text(text)
    assert main(["simulate", "push.yaml", *BARE]) == 1
    printed = capsys.readouterr().err
    assert "push.yaml:13:12: start.y: no coordinate or speed 'y'" in printed
    assert "push.yaml:14:1: every: this key is already given" in printed


def test_faults_that_show_when_it_is_built_are_told_with_their_lines(here, capsys):
    (here / "push.yaml").write_text(SLIDE + "changes: [{event: bang, stop: true}]\n")
    assert main(["simulate", "push.yaml", *BARE]) == 1
    assert "push.yaml:13:19: changes[0].event: no event 'bang'" in capsys.readouterr().err


def test_a_missing_file_is_named(here, capsys):
    assert main(["simulate", "absent.yaml"]) == 1
    assert "absent.yaml" in capsys.readouterr().err


# -- runs that do not reach their end ----------------------------------------------------------------------------------


def test_a_run_that_fails_is_saved_and_ends_with_3(here, capsys):
    (here / "push.yaml").write_text(SLIDE.replace("{f: 4}", "{f: -1/x^2}") + "start: {x: 0.1}\n")
    assert main(["simulate", "push.yaml", "-o", "a", "--every", "0.01", *BARE]) == 3
    run = ts.open_run(here / "a" / "run.nc")
    assert not run.complete
    assert run.time[-1] == pytest.approx(0.04)
    said = capsys.readouterr().err
    assert "failed: at t = 0.049672941" in said  # pi/2 sqrt(m x0^3/2) = 0.04967294
    assert "dx: the step became too small" in said
    assert "try a stiff method" in said
    assert summary(here / "a")["reason"] == run.reason


@contextmanager
def interrupting(study):
    def report(t: float) -> None:
        signal.raise_signal(signal.SIGINT)

    yield report


@pytest.mark.usefixtures("interrupt_key")
@pytest.mark.parametrize(("solver", "until", "every"), [("dop853", "3e5", "10"), ("rk4", "3e3", "0.1")])
def test_ctrl_c_saves_what_was_computed_and_ends_with_130(solver, until, every, here, capsys, monkeypatch):
    monkeypatch.setattr(simulate, "_progress", interrupting)
    options = ["--until", until, "--every", every, "--solver", solver, *BARE]
    assert main(["simulate", str(PENDULUM), "-o", "a", *options]) == 130
    run = ts.open_run(here / "a" / "run.nc")
    assert not run.complete
    assert run.time[-1] < float(until)
    assert run.info["outcome"] == "INTERRUPTED"
    assert "interrupted: at t = " in capsys.readouterr().err


def test_ctrl_c_before_the_run_begins_ends_with_130_too(here, capsys, monkeypatch):
    def interrupted(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(ts.Simulation, "__init__", interrupted)
    assert main(["simulate", "push.yaml", "-o", "a", *BARE]) == 130
    assert "interrupted before the run began" in capsys.readouterr().err
    assert names(here / "a") == set()


def test_an_audit_that_fails_is_told_and_has_its_own_status_unless_told_otherwise(here, capsys):
    options = ["--until", "5", "--solver", "rk4", "--step", "0.2", "--every", "0.2", *BARE]
    assert main(["simulate", str(PENDULUM), "-o", "a", *options]) == simulate.WRONG == 4
    printed = capsys.readouterr()
    assert "audit FAILS: energy off by" in printed.out
    assert "not to be trusted" in printed.err
    assert "a smaller solver.rtol" in printed.err
    assert not summary(here / "a")["audit"]["holds"]
    assert main(["simulate", str(PENDULUM), "-o", "a", "--ignore-audit", *options]) == 0


# -- nothing is half there, and nothing is lost ------------------------------------------------------------------------


def full(*arguments: object, **options: object) -> None:
    raise OSError(28, "No space left on device")


def test_a_failure_while_writing_leaves_the_earlier_results_and_saves_the_run_elsewhere(here, capsys, monkeypatch):
    main(["simulate", "push.yaml", "-o", "a", *BARE])
    before = {name: (here / "a" / name).read_bytes() for name in names(here / "a")}
    monkeypatch.setattr(results, "_save_summary", full)
    monkeypatch.setattr(tempfile, "tempdir", str(here / "spare"))
    (here / "spare").mkdir()
    assert main(["simulate", "push.yaml", "-o", "a", "--until", "2", *BARE]) == simulate.UNWRITTEN
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("failed: the folder of results cannot be written to (a; No space left on device)")
    (saved,) = names(here / "spare")
    assert said.endswith(f"the run is in {here / 'spare' / saved} instead")
    assert ts.open_run(here / "spare" / saved).time[-1] == 2.0
    assert {name: (here / "a" / name).read_bytes() for name in names(here / "a")} == before
    assert not [path for path in (here / "a").iterdir() if path.name.startswith(".new-")]


def test_where_nothing_at_all_can_be_written_the_error_says_so(here, capsys, monkeypatch):
    monkeypatch.setattr(Run, "save", full)
    assert main(["simulate", "push.yaml", "-o", "a", *BARE]) == 1
    assert "No space left on device" in capsys.readouterr().err


def test_a_format_that_fails_leaves_the_others(here, capsys, monkeypatch):
    from torseur.simulation.results import result, run_files

    def broken(*arguments: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setitem(result.FORMATS, ".nc", (broken, run_files.read_netcdf))
    assert main(["simulate", "push.yaml", "-o", "a", "--format", "nc,res", *BARE]) == simulate.UNWRITTEN
    assert names(here / "a") == {"run.res", "study.yaml", "summary.json"}
    assert "failed: run.nc: RuntimeError: two lines\n" in capsys.readouterr().err
    assert main(["simulate", "push.yaml", "-o", "a", *BARE]) == simulate.UNWRITTEN
    assert names(here / "a") == {"run.csv", "study.yaml", "summary.json"}
    assert summary(here / "a")["failures"] == ["run.nc: RuntimeError: two lines"]


def test_a_figure_that_fails_costs_neither_the_run_nor_the_other_figures(here, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    from torseur.views.plots import figures

    def broken(*arguments: object, **options: object) -> None:
        raise TypeError("unhashable type: 'dict'")

    monkeypatch.setattr(figures, "plot_paths", broken)
    assert main(["simulate", "push.yaml", "-o", "a", "--no-playback"]) == simulate.UNWRITTEN
    assert {"run.nc", "figures/coordinates.png", "figures/audit.png"} <= names(here / "a")
    assert "figures/paths.png" not in names(here / "a")
    failures = ["figures/paths.png: TypeError: unhashable type: 'dict'"]
    assert summary(here / "a")["failures"] == failures
    assert capsys.readouterr().err.splitlines()[-1] == f"failed: {failures[0]}"


def test_what_fails_beside_the_playback_is_told_too(here, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    pytest.importorskip("viser")
    from torseur.views.plots import figures

    monkeypatch.setattr(figures, "plot_paths", full)
    assert main(["simulate", "push.yaml", "-o", "a"]) == simulate.UNWRITTEN
    assert {"playback.html", "figures/overview.png", "figures/audit.png"} <= names(here / "a")
    assert [line.partition(":")[0] for line in summary(here / "a")["failures"]] == ["figures/paths.png"]


@pytest.mark.parametrize("names_", [["overview"], ["overview", *"abcdefg"], ["vehicle", "overview"]])
def test_figures_are_shared_so_that_each_half_has_as_much_to_do(names_):
    first, second = results._halves(names_)
    assert sorted(first + second) == sorted(names_)
    weights = [sum(3 if name == "overview" else 1 for name in half) for half in (first, second)]
    assert abs(weights[0] - weights[1]) <= 3


def test_a_playback_that_fails_does_not_cost_the_run(here, monkeypatch):
    from torseur.views import scene

    monkeypatch.setattr(scene, "animate", full)
    assert main(["simulate", "push.yaml", "-o", "a", "--no-figures"]) == simulate.UNWRITTEN
    assert names(here / "a") == {"run.nc", "study.yaml", "summary.json"}
    assert ts.open_run(here / "a" / "run.nc").complete


def test_the_run_is_saved_before_anything_is_drawn(here, monkeypatch):
    def killed(*arguments: object, **options: object) -> None:
        assert ts.open_run(here / "a" / "run.nc").complete
        raise KeyboardInterrupt

    monkeypatch.setattr(results, "_save_figures", killed)
    assert main(["simulate", "push.yaml", "-o", "a", "--no-playback"]) == 130
    assert names(here / "a") == {"run.nc", "study.yaml", "summary.json"}


def test_formulas_that_a_study_records_are_drawn(here):
    pytest.importorskip("matplotlib")
    (here / "push.yaml").write_text(SLIDE + "outputs: {twice: {value: 2*x, unit: m}}\n")
    assert main(["simulate", "push.yaml", "-o", "a", "--no-playback"]) == 0
    assert {"figures/outputs.png", "figures/paths.png"} <= names(here / "a")


def test_a_summary_from_elsewhere_makes_nothing_disappear(here):
    (here / "a").mkdir()
    (here / "precious.png").write_text("kept")
    (here / "a" / "notes.yaml").write_text("kept")
    listed = ["../precious.png", "notes.yaml", "figures/../../precious.png", 3, "figures/x.png"]
    (here / "a" / "summary.json").write_text(json.dumps({"files": listed}))
    assert main(["simulate", "push.yaml", "-o", "a", *BARE]) == 0
    assert (here / "precious.png").exists()
    assert (here / "a" / "notes.yaml").exists()


# -- packages that are not there ---------------------------------------------------------------------------------------


def test_without_optional_packages_it_says_so_and_goes_on(here):
    code = """
        import sys

        for name in ("matplotlib", "viser", "xarray", "h5netcdf"):
            sys.modules[name] = None
        from torseur.cli import main

        sys.exit(main(["simulate", "push.yaml", "-o", "a"]))
        """
    process = start(code)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert names(here / "a") == {"run.csv", "study.yaml", "summary.json"}
    for extra in ("results", "plots", "scene"):
        assert f"pip install 'torseur[{extra}]'" in out


def test_only_what_is_missing_is_left_out(here, monkeypatch, capsys):
    def missing(*arguments: object) -> None:
        raise MissingExtra("matplotlib", extra="plots", purpose="figures")

    monkeypatch.setattr(results, "_save_figures", missing)
    assert main(["simulate", "push.yaml", "-o", "a", "--no-playback"]) == 0
    assert names(here / "a") == {"run.nc", "study.yaml", "summary.json"}
    assert "note: without figures: figures needs the package 'matplotlib'" in capsys.readouterr().out


# -- comparing ---------------------------------------------------------------------------------------------------------


def test_compare_ends_with_1_beyond_the_tolerance(here, capsys):
    main(["simulate", "push.yaml", "-o", "a", *BARE])
    main(["simulate", "push.yaml", "-o", "b", "--set", "f=4.04", "--format", "csv", *BARE])
    capsys.readouterr()
    assert main(["compare", "a", "b"]) == 0
    assert "largest difference" in capsys.readouterr().out
    assert main(["compare", "a/run.nc", "b/run.csv", "--tolerance", "0.02"]) == 0
    assert "within 0.02" in capsys.readouterr().out
    assert main(["compare", "a", "b", "--tolerance", "0.005"]) == 1
    assert "differ by more than 0.005: x, dx" in capsys.readouterr().out


def test_compare_draws_both(here):
    pytest.importorskip("matplotlib")
    main(["simulate", "push.yaml", "-o", "a", *BARE])
    assert main(["compare", "a", "a", "--figure", "both.png"]) == 0
    assert (here / "both.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("other", ["absent.nc", "empty", "push.yaml"])
def test_compare_names_what_is_no_run(other, here, capsys):
    (here / "empty").mkdir()
    main(["simulate", "push.yaml", "-o", "a", *BARE])
    assert main(["compare", "a", other]) == 1
    assert other in capsys.readouterr().err


# -- the terminal ------------------------------------------------------------------------------------------------------


def test_on_a_terminal_the_bar_shows_time_and_pace(here, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    study = ts.load_study("push.yaml")
    with simulate._progress(study) as report:
        report(0.25)
    printed = capsys.readouterr().err
    assert "0.25 of 1 s" in printed
    assert "times real time" in printed


def test_schema_of_studies_is_printed(capsys):
    assert main(["schema", "--of", "study"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Torseur study"
    assert main(["schema", "--of", "study", "--markdown"]) == 0
    assert capsys.readouterr().out.startswith("### Study")


def test_view_names_what_it_cannot_show(here, capsys):
    assert main(["view", "absent.yaml"]) == 1
    assert "absent.yaml" in capsys.readouterr().err
