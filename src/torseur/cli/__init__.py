"""The command line: parse, call, print.

The module of a command is imported when it is called; ``torseur --help`` reads only the table ``COMMANDS``.

Exit codes: 0 done, 1 an error of ours (printed in full) or a comparison that fails, 2 wrong usage, 3 a run that failed
on the way, 4 a run whose audit does not hold, 5 a figure, playback or file that failed beside a run that is saved, 6 a
vehicle that did not do what its scenario asks, 130 interrupted. After 3, 4, 5, 6 and 130 what `simulate` had computed
is saved; of several the first of 130, 3, 4, 5 and 6 is given. An exception that is not ours is a defect and shows its
traceback.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence

import click

import torseur
from torseur.cli.commands import Command, LazyGroup, flags_of, our_warnings, print_error
from torseur.errors import TorseurError

__all__ = ["COMMANDS", "main", "run"]

NEW_OBJECTS = 200_000
"""After so many Python's collector looks for circles."""

ENVIRONMENT = {
    "OPENBLAS_THREAD_TIMEOUT": "20",  # threads without work spin for 2^20 cycles, not 2^26: 0.05 s of each start
    "PYDANTIC_DISABLE_PLUGINS": "__all__",  # or every installed package is searched for some
}
"""What libraries are told before they are imported, unless the user tells them otherwise."""

COMMANDS = {
    "bench": Command("torseur.cli.starting", "Benchmark this machine, beside other packages if installed."),
    "campaign": Command("torseur.cli.campaign", "Run a study many times with varied values: a campaign."),
    "check": Command("torseur.cli.model_files", "Check a model file: what it contains, and what is wrong with it."),
    "compare": Command("torseur.cli.views", "Compare two runs, channel by channel."),
    "completion": Command("torseur.cli.starting", "Print the script that completes commands in a shell."),
    "convert": Command("torseur.cli.model_files", "Convert a model file from one format to another."),
    "draw": Command("torseur.cli.views", "Draw the kinematic scheme of a mechanism."),
    "equations": Command("torseur.cli.equations", "Print the equations of a mechanism, or count their operations."),
    "examples": Command("torseur.cli.starting", "List the examples that come with the package."),
    "excite": Command("torseur.cli.identification", "Find an exciting motion for the identification of a mechanism."),
    "export": Command("torseur.cli.export", "Write C, Python, MATLAB or an FMU of a model or study."),
    "identify": Command("torseur.cli.identification", "Identify the parameters of a mechanism from measurements."),
    "new": Command("torseur.cli.starting", "Write a commented starter file."),
    "report": Command("torseur.cli.views", "Write a report on a model, study or run: HTML, LaTeX, PDF."),
    "scenarios": Command("torseur.cli.scenarios", "List the scenarios of vehicles, or show one with its parameters."),
    "schema": Command("torseur.cli.model_files", "Print the JSON Schema of model or study files, for editors."),
    "simulate": Command("torseur.cli.simulate", "Simulate a study: results, audit, figures, playback."),
    "view": Command("torseur.cli.views", "Show a run or a mechanism in 3-D in the browser."),
    "cache": Command("torseur.cli.starting", "Show the cache of compiled code on disk, or clear it."),
}


@click.group(cls=LazyGroup, table=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(torseur.__version__, prog_name="torseur")
def torseur_group() -> None:
    """Mechanisms: readable equations, native code, simulation."""


def run(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code (see the top of this module)."""
    try:
        with our_warnings():
            code = command.main(arguments, prog_name="torseur", standalone_mode=False)
    except TorseurError as error:
        print_error(error, _flags(command, arguments or ()))
        return 1
    except click.Abort:
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return code if isinstance(code, int) else 0


def _flags(command: click.Command, arguments: Sequence[str]) -> dict[str, str]:
    """Of the command that was called, in groups of groups too."""
    words = iter([x for x in arguments if not x.startswith("-")])
    while isinstance(command, click.Group):
        inner = command.get_command(click.Context(command), next(words, ""))
        if inner is None:
            return {}
        command = inner
    return flags_of(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """The entry point ``torseur``; `arguments` are those of the process unless given.

    Importing and building make objects by the hundred thousand and leave few circles: looking for these after every
    700 new ones, as Python does by itself, takes a seventh of a small run, and as much again when the process ends.
    """
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    atexit.register(gc.freeze)
    before = gc.get_threshold()
    gc.set_threshold(NEW_OBJECTS, *before[1:])
    try:
        return run(torseur_group, sys.argv[1:] if arguments is None else arguments)
    finally:
        gc.set_threshold(*before)
