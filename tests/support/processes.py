"""Fresh interpreters for what one process cannot show: warm starts, kills, crashes, races."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

__all__ = ["run", "start"]

_TESTS = Path(__file__).resolve().parent.parent


def start(code: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """An interpreter that runs `code`, able to import torseur and the helpers of the tests."""
    paths = [str(_TESTS.parent / "src"), str(_TESTS), os.environ.get("PYTHONPATH", "")]
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment}
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=variables)


def run(code: str, *arguments: str, **environment: str) -> str:
    """What such an interpreter prints; it must end well."""
    process = start(code, *arguments, **environment)
    out, err = process.communicate()
    assert process.returncode == 0, f"ended with {process.returncode}\n{err[-3000:]}"
    return out.strip()
