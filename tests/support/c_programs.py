"""Folders of C that were exported: compiled under strict warnings and run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

__all__ = ["HOSTILE", "STRICT", "built", "ran"]

HOSTILE = '*/ int x; /* ??/ \\ "quoted" <b>&amp;</b> ]]> | `ls` $(ls) %s %n'
"""Signs that mean something to C, XML, Markdown, CMake and shells."""

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0"]


def built(folder: Path, *sources: str, program: str = "program", also: tuple[str, ...] = ()) -> Path:
    """A program made of some sources of a folder; the test is skipped where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    files = sources or tuple(sorted(path.name for path in folder.glob("*.c")))
    command = [compiler, *STRICT, *also, "-o", program, *files, "-lm"]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[:2000]
    return folder / program


def ran(program: Path, *arguments: str) -> str:
    """What a program prints; it must end well."""
    done = subprocess.run([program, *arguments], cwd=program.parent, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout
