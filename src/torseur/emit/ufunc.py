"""Native loops as NumPy generalised ufuncs, made through NumPy's C interface without a compiler."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

__all__ = ["make_ufunc", "signature"]

_FROM_FUNCTION_AND_SIGNATURE = 31  # PyUFunc_FromFuncAndDataAndSignature in the table of NumPy's ufunc C-API
_NONE_IDENTITY = -1


def signature(ins: Sequence[tuple[int, ...]], outs: Sequence[tuple[int, ...]]) -> str:
    """Core shapes in NumPy's notation.

    >>> signature([(6,), ()], [(6, 6)])
    '(6),()->(6,6)'
    """

    def side(shapes: Sequence[tuple[int, ...]]) -> str:
        return ",".join(f"({','.join(map(str, shape))})" for shape in shapes)

    return f"{side(ins)}->{side(outs)}"


@lru_cache(maxsize=1)
def _constructor() -> Any:
    capsule = ctypes.pythonapi.PyCapsule_GetPointer
    capsule.restype, capsule.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    from numpy._core import _multiarray_umath

    table = ctypes.cast(capsule(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
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
    address: int, name: str, ins: Sequence[tuple[int, ...]], outs: Sequence[tuple[int, ...]]
) -> tuple[np.ufunc, object]:
    """A ufunc over doubles from the address of its inner loop, and the buffers that must live as long as it does."""
    n = len(ins) + len(outs)
    loops = (ctypes.c_void_p * 1)(address)
    data = (ctypes.c_void_p * 1)(None)
    types = bytes([np.dtype(np.float64).num] * n)
    texts = [name.encode(), f"native code of {name}".encode(), signature(ins, outs).encode()]
    made: np.ufunc = _constructor()(
        ctypes.addressof(loops), ctypes.addressof(data), types, 1, len(ins), len(outs), _NONE_IDENTITY, *texts[:2], 0, texts[2]
    )
    return made, (loops, data, types, texts)
