"""Functions of a model as files of Python (NumPy alone) and of MATLAB or Octave, with a self-test."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.emit import to_matlab, to_python
from torseur.export.c_functions import readme_of_functions
from torseur.export.functions import MARGIN, Array, ExportedFunction
from torseur.export.plain_text import Files
from torseur.graph.blocks import Block
from torseur.graph.function import Output
from torseur.model import Model

__all__ = ["matlab_files", "python_files"]

_PYTHON = """```sh
python selftest.py
```

Every file holds one function of NumPy arrays `(..., *shape)` and needs nothing but NumPy."""

_MATLAB = """```sh
octave selftest.m
```

Every file holds one function, for MATLAB and Octave. Vectors are columns. The last result, `work`, may be handed in
again where parameters stay the same."""


def python_files(model: Model, functions: Sequence[ExportedFunction]) -> Files:
    """One module for each function."""
    texts = {f"{f.name}.py": to_python(f.function) for f in functions}
    texts |= {"README.md": readme_of_functions(model, functions, _PYTHON), "selftest.py": _selftest_py(functions)}
    return {path: text.encode("utf-8") for path, text in texts.items()}


def matlab_files(model: Model, functions: Sequence[ExportedFunction]) -> Files:
    """One function file for each function."""
    texts = {f"{_matlab_name(f)}.m": to_matlab(f.function) for f in functions}
    texts |= {"README.md": readme_of_functions(model, functions, _MATLAB), "selftest.m": _selftest_m(functions)}
    return {path: text.encode("utf-8") for path, text in texts.items()}


def _matlab_name(f: ExportedFunction) -> str:
    """As the file calls it: MATLAB cuts long names."""
    source = to_matlab(f.function)
    head = next(line for line in source.split("\n") if line.startswith("function "))
    return head.removeprefix("function ").split("= ")[-1].split("(")[0].strip()


def _selftest_py(functions: Sequence[ExportedFunction]) -> str:
    lines = ['"""Calls every function once and compares with what Torseur computed."""', "", "import numpy as np", ""]
    lines += [f"from {f.name} import {f.name}" for f in sorted(functions, key=lambda f: f.name)]
    lines += ["", "GOOD = []", ""]
    for f in functions:
        given = [_python_array(b, x) for b, x in zip(f.function.inputs, f.given, strict=True)]
        lines.append(f"found = {f.name}(\n    {','.join(chr(10) + '    ' + g for g in given).strip()}\n)")
        lines.append("found = found if isinstance(found, tuple) else (found,)")
        expected = [_python_array(o, x) for o, x in zip(f.function.outputs, f.expected, strict=True)]
        lines.append(f"expected = (\n    {''.join(e + ',' + chr(10) + '    ' for e in expected).rstrip()}\n)")
        lines += [
            "for y, e in zip(found, expected):",
            "    error = np.max(np.abs(y - e), initial=0.0) / np.max(np.abs(e), initial=1e-6)",
            f"    GOOD.append(error <= {MARGIN!r})",
            f'    print(f"{f.name}: {{"ok" if GOOD[-1] else "WRONG"}}, error {{error:.1e}}")'.replace(
                '"ok"', "'ok'"
            ).replace('"WRONG"', "'WRONG'"),
            "",
        ]
    return "\n".join([*lines, "if not all(GOOD):", "    raise SystemExit(1)", ""])


def _python_array(item: Block | Output, values: Array) -> str:
    shape = item.shape
    numbers = ", ".join(map(repr, values.tolist()))
    return f"np.array([{numbers}], dtype=float).reshape({shape!r})"


def _selftest_m(functions: Sequence[ExportedFunction]) -> str:
    lines = ["% Calls every function once and compares with what Torseur computed.", "good = true;"]
    for f in functions:
        given = [_matlab_array(b, x) for b, x in zip(f.function.inputs, f.given, strict=True)]
        names = [f"y{k}" for k in range(1, len(f.expected) + 1)]
        arguments = ", ...\n    ".join(given)
        lines.append(f"[{', '.join(names)}] = {_matlab_name(f)}( ...\n    {arguments});")
        for name, output, value in zip(names, f.function.outputs, f.expected, strict=True):
            expected = _matlab_array(output, value)
            lines += [
                f"e = {expected};",
                f"error_ = max([0; abs({name}(:) - e(:))])/max([1e-6; abs(e(:))]);",
                f"good = good && error_ <= {MARGIN!r};",
                f"fprintf('%s: error %.1e\\n', '{f.name}', error_);",
            ]
    return "\n".join([*lines, "if ~good", "    error('the self-test fails');", "end", ""])


def _matlab_array(item: Block | Output, values: Array) -> str:
    """Columns; matrices row by row."""
    numbers = "; ".join(map(repr, values.tolist()))
    match item.shape:
        case () | (_,):
            return f"[{numbers}]" if len(values) else "zeros(0, 1)"
        case shape:
            sizes = ", ".join(map(str, reversed(shape)))
            order = ", ".join(map(str, range(len(shape), 0, -1)))
            return f"permute(reshape([{numbers}], [{sizes}]), [{order}])"
