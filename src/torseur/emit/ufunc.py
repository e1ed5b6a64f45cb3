"""Native loops as NumPy generalised ufuncs, made through NumPy's C interface without a compiler; batches in threads."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib import import_module
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.errors import ArgumentError, CompileError

__all__ = ["checked_threads", "cuts", "in_threads", "make_ufunc", "signature"]

_FROM_FUNCTION_AND_SIGNATURE = 31  # PyUFunc_FromFuncAndDataAndSignature in the table of NumPy's ufunc C-API
_NONE_IDENTITY = -1

Shape = tuple[int, ...]


def signature(ins: Sequence[Shape], outs: Sequence[Shape]) -> str:
    """Core shapes in NumPy's notation.

    >>> signature([(6,), ()], [(6, 6)])
    '(6),()->(6,6)'
    """

    def side(shapes: Sequence[Shape]) -> str:
        return ",".join(f"({','.join(map(str, shape))})" for shape in shapes)

    return f"{side(ins)}->{side(outs)}"


@lru_cache(maxsize=1)
def _constructor() -> Any:
    capsule = ctypes.pythonapi.PyCapsule_GetPointer
    capsule.restype, capsule.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    umath: Any = import_module("numpy._core._multiarray_umath")
    table = ctypes.cast(capsule(umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object,  # the ufunc
        ctypes.c_void_p,  # loops
        ctypes.c_void_p,  # data of each loop
        ctypes.c_char_p,  # types
        *[ctypes.c_int] * 4,  # number of loops, inputs, outputs; identity
        *[ctypes.c_char_p] * 2,  # name, documentation
        ctypes.c_int,  # unused
        ctypes.c_char_p,  # signature
    )
    return prototype(table[_FROM_FUNCTION_AND_SIGNATURE])


def make_ufunc(
    address: int, name: str, ins: Sequence[Shape], outs: Sequence[Shape]
) -> tuple[Callable[..., Any], object]:
    """A ufunc over doubles from the address of its inner loop, and the buffers that must live as long as it does."""
    cores = [[shape if prod(shape) else () for shape in side] for side in (ins, outs)]
    made, buffers = _make(address, name, *cores)
    return made if cores == [[*ins], [*outs]] else _around_empty(made, ins, outs), buffers


def _make(address: int, name: str, ins: Sequence[Shape], outs: Sequence[Shape]) -> tuple[np.ufunc, object]:
    n = len(ins) + len(outs)
    loops = (ctypes.c_void_p * 1)(address)
    data = (ctypes.c_void_p * 1)(None)
    types = bytes([np.dtype(np.float64).num] * n)
    texts = [name.encode(), f"native code of {name}".encode(), signature(ins, outs).encode()]
    addresses, sizes = (ctypes.addressof(loops), ctypes.addressof(data)), (1, len(ins), len(outs))
    try:
        made: np.ufunc = _constructor()(*addresses, types, *sizes, _NONE_IDENTITY, *texts[:2], 0, texts[2])
    except ValueError as error:
        raise CompileError(
            f"NumPy cannot call '{name}'", got=str(error), remedy="gather the inputs in fewer, larger blocks"
        ) from error
    return made, (loops, data, types, texts)


def _around_empty(ufunc: np.ufunc, ins: Sequence[Shape], outs: Sequence[Shape]) -> Callable[..., Any]:
    """The ufunc as seen from outside: empty arrays, which it takes and gives as numbers that mean nothing."""

    def lead(array: Any, shape: Shape) -> Shape:
        n = array.ndim - len(shape)
        if n < 0 or array.shape[n:] != shape:
            raise ValueError(f"shape {array.shape}, expected {shape}")
        return tuple(array.shape[:n])

    def call(*args: Any, out: Any = None) -> Any:
        given = [a if prod(s) else np.broadcast_to(0.0, lead(np.asarray(a), s)) for a, s in zip(args, ins, strict=True)]
        targets = (None,) * len(outs) if out is None else out if isinstance(out, tuple) else (out,)
        made = ufunc(*given, out=tuple(t if prod(s) else None for t, s in zip(targets, outs, strict=True)))
        results = list(made) if len(outs) > 1 else [made]
        for k, shape in enumerate(outs):
            if not prod(shape):
                batch, results[k] = np.shape(results[k]), targets[k]
                if results[k] is None:
                    results[k] = np.empty((*batch, *shape))
                np.copyto(results[k], np.empty((*batch, *shape)))  # nothing, unless the shapes differ
        return tuple(results) if len(outs) > 1 else results[0]

    return call


Array = NDArray[np.float64]


def checked_threads(threads: Any) -> int:
    try:
        number = operator.index(threads)
    except TypeError:
        number = 0
    if number < 1:
        raise ArgumentError("wrong number of threads", expected="an integer, at least 1", got=repr(threads))
    return number


def cuts(count: int, threads: int) -> list[tuple[int, int]]:
    """Where a number of rows is cut to be shared out: (start, stop) for each thread."""
    edges = [count * k // threads for k in range(threads + 1)]
    return [(a, b) for a, b in pairwise(edges) if a < b]


def in_threads(
    call: Callable[..., Any],
    ins: Sequence[Shape],
    outs: Sequence[Shape],
    args: Sequence[Array],
    out: Any,
    threads: int,
) -> Any:
    """The results of a ufunc with these core shapes; whatever is wrong with the arguments is left to it to find."""
    leads = [a.shape[: a.ndim - len(shape)] for a, shape in zip(args, ins, strict=True)]
    batch = np.broadcast_shapes(*leads)
    results = _targets(out, [(*batch, *shape) for shape in outs])
    if results is None or not batch:
        return call(*args) if out is None else call(*args, out=out)
    axis = batch.index(max(batch))
    # The ufunc looks for overlaps, but only within one slice.
    given = [a.copy() if any(np.may_share_memory(a, r) for r in results) else a for a in args]

    def part(array: Array, lead: Shape, rows: slice) -> Array:
        place = axis - (len(batch) - len(lead))
        return array if place < 0 or lead[place] == 1 else array[(slice(None),) * place + (rows,)]

    def run(edges: tuple[int, int]) -> None:
        rows = slice(*edges)
        parts = [part(a, lead, rows) for a, lead in zip(given, leads, strict=True)]
        call(*parts, out=tuple(part(r, batch, rows) for r in results))

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(run, cuts(batch[axis], threads)))
    return results[0] if len(outs) == 1 else results


def _targets(out: Any, shapes: Sequence[Shape]) -> tuple[Array, ...] | None:
    """Where to write: what was given, and new arrays for what was not; None if something given does not fit."""
    given = out if isinstance(out, tuple) else (out,) * (len(shapes) if out is None else 1)
    if len(given) != len(shapes):
        return None
    made = tuple(np.empty(s) if o is None else o for o, s in zip(given, shapes, strict=True))
    fits = all(isinstance(o, np.ndarray) and o.shape == s for o, s in zip(made, shapes, strict=True))
    return made if fits else None
