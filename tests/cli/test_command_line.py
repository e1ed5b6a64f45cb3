"""The command line: what it prints, and the code it ends with."""

import subprocess
import sys

import click
import pytest

import torseur
from torseur.cli import COMMANDS, main, run
from torseur.errors import GraphError, ModelError


def command_raising(error: BaseException) -> click.Command:
    @click.command()
    def command() -> None:
        raise error

    return command


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    for name, entry in COMMANDS.items():
        assert name in printed
        assert entry.summary in printed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_exists_and_says_what_the_table_says(name, capsys):
    assert main([name, "--help"]) == 0
    assert COMMANDS[name].summary in " ".join(capsys.readouterr().out.split())


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"torseur, version {torseur.__version__}\n"


@pytest.mark.parametrize("arguments", [["no-such-command"], ["--no-such-option"], ["cache", "no-such-command"]])
def test_wrong_usage_ends_with_2_and_names_the_word(arguments, capsys):
    assert main(arguments) == 2
    assert arguments[-1] in capsys.readouterr().err


def test_an_error_of_ours_is_printed_in_full_and_ends_with_1(capsys):
    assert run(command_raising(GraphError("no such name", where="block 'q'", remedy="declare [it]")), []) == 1
    printed = capsys.readouterr()
    assert printed.err == "error: no such name\n  where: block 'q'\n  remedy: declare [it]\n"
    assert printed.out == ""


def test_on_a_terminal_the_error_says_the_same_in_colour(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run(command_raising(GraphError("no such name", where="a" * 200, remedy="declare [it]")), []) == 1
    printed = capsys.readouterr().err
    assert "\x1b[" in printed
    assert click.unstyle(printed) == f"error: no such name\n  where: {'a' * 200}\n  remedy: declare [it]\n"


def test_ctrl_c_ends_with_130():
    assert run(command_raising(KeyboardInterrupt()), []) == 130


def test_a_defect_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        run(command_raising(ZeroDivisionError()), [])


def test_the_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "torseur", "check", "absent.yaml"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("error:")


def test_cache_info_names_the_folder_and_clear_counts(capsys, monkeypatch):
    from torseur.emit.cache import cache_info

    assert main(["cache", "info"]) == 0
    assert str(cache_info().path) in capsys.readouterr().out

    monkeypatch.setattr("torseur.emit.cache.clear_cache", lambda: 1)
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == "1 entry removed\n"


# -- remedies ----------------------------------------------------------------------------------------------------------
MISSING = {"remedy": "give one", "option": "parameters", "call": "build(mechanism, parameters={...})"}


@click.command()
@click.option("--set", metavar="NAME=VALUE", multiple=True)
@click.option("--fast", is_flag=True)
def with_options(**given: object) -> None:
    raise ModelError.of([ModelError("no value", **MISSING), ModelError("slow", remedy="go faster", option="fast")])


def test_remedies_are_in_the_words_of_the_command_line(capsys):
    assert run(with_options, []) == 1
    assert capsys.readouterr().err == (
        "error: 2 faults\n1. no value\n  remedy: give one: --set NAME=VALUE\n2. slow\n  remedy: go faster (--fast)\n"
    )


def test_what_only_python_can_do_is_not_told_on_the_command_line(capsys):
    error = ModelError("no value", **MISSING)
    assert run(command_raising(error), []) == 1
    assert capsys.readouterr().err == "error: no value\n  remedy: give one\n"
    assert str(error) == "no value\n  remedy: give one: build(mechanism, parameters={...})"  # as it was


def test_losses_name_the_flag_that_allows_them(tmp_path, capsys):
    model = tmp_path / "box.yaml"
    model.write_text("torseur: 1\nname: box\nbodies: {a: {joint: revolute, shapes: [{box: {size: [1, 1, 1]}}]}}\n")
    assert main(["convert", str(model), str(tmp_path / "box.par")]) == 1
    printed = capsys.readouterr().err
    assert "or leave it out: --lossy" in printed
    assert "lossy=True" not in printed
