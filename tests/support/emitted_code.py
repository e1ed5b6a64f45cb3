"""Running emitted source: C through the system's compiler, Python through exec."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from torseur.emit.text import Precision, to_c, to_python
from torseur.graph import Function, Role

__all__ = ["CFunction", "compiled", "run_python"]

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0", "-fPIC", "-shared"]
_COMPILER = shutil.which("cc")


def compiled(source: str, directory: Path, name: str = "code", *, also: Sequence[str] = ()) -> ctypes.CDLL:
    """A library made from C99 source under strict warnings; the test is skipped where there is no compiler."""
    if _COMPILER is None:
        pytest.skip("no C compiler")
    path = directory / f"{name}.c"
    path.write_text(source, encoding="utf-8")
    library = directory / f"{name}.so"
    made = subprocess.run([_COMPILER, *STRICT, *also, "-o", library, path, "-lm"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[:2000]
    return ctypes.CDLL(str(library))


class CFunction:
    """A function as compiled C: prologue, instant and evaluation, on batches."""

    _count = 0

    def __init__(self, function: Function, directory: Path, precision: Precision = Precision.DOUBLE) -> None:
        CFunction._count += 1
        self.function = function
        self.source = to_c(function, precision)
        self.library = compiled(self.source, directory, f"code{CFunction._count}")
        self.dtype = np.float64 if precision is Precision.DOUBLE else np.float32
        self.real = ctypes.c_double if precision is Precision.DOUBLE else ctypes.c_float
        size = self.source.split(f"#define {function.name}_WORK ")[1].split()[0]
        self.work = np.full(int(size), np.nan, self.dtype)

    def __call__(self, *args: Any) -> list[NDArray[Any]]:
        """The outputs on arrays (..., *shape), one state after the other."""
        arrays = [np.asarray(a, self.dtype) for a in args]
        leads = [a.shape[: a.ndim - len(b.shape)] for a, b in zip(arrays, self.function.inputs, strict=True)]
        batch = np.broadcast_shapes(*leads)
        shapes = [(*batch, *b.shape) for b in self.function.inputs]
        full = [np.broadcast_to(a, shape).copy() for a, shape in zip(arrays, shapes, strict=True)]
        outputs = [np.empty((*batch, *o.shape), self.dtype) for o in self.function.outputs]
        for index in np.ndindex(*batch):
            self.once(
                [a[index] for a in full], [o[index] if o.ndim > len(index) else o[(*index, None)] for o in outputs]
            )
        return outputs

    def once(self, inputs: Sequence[NDArray[Any]], outputs: Sequence[NDArray[Any]]) -> None:
        """All stages for one state; the outputs are written in place."""
        name, roles = self.function.name, [b.role for b in self.function.inputs]
        parameters = [a for a, r in zip(inputs, roles, strict=True) if r is Role.PARAMETER]
        early = [a for a, r in zip(inputs, roles, strict=True) if r in (Role.PARAMETER, Role.TIME)]
        self.call(f"{name}_prologue", [*parameters, self.work])
        if f"void {name}_time(" in self.source:
            self.call(f"{name}_time", [*early, self.work])
        self.call(name, [*inputs, self.work, *outputs])

    def call(self, name: str, arguments: Sequence[NDArray[Any]]) -> None:
        """Scalars by value, everything else by address."""
        routine = getattr(self.library, name)
        routine.restype = None
        passed = []
        for a in arguments:
            if a.ndim == 0:
                passed.append(self.real(a))
            else:
                assert a.flags.c_contiguous
                passed.append(a.ctypes.data_as(ctypes.c_void_p))
        routine(*passed)


def run_python(function: Function, *args: Any) -> tuple[NDArray[np.float64], ...]:
    """The outputs of the emitted Python, always as a tuple."""
    space: dict[str, Any] = {}
    exec(compile(to_python(function), f"<{function.name}>", "exec"), space)
    result = space[function.name](*args)
    return result if isinstance(result, tuple) else (result,)
