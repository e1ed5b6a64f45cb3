"""Functions of a model as files with a self-test: C99, Python with NumPy alone, MATLAB or Octave.

C99 comes as sources, a header, CMake and a list of what arrays hold: no allocation, no library but that of mathematics,
no numbers that depend on the machine that wrote them.
"""

from __future__ import annotations

from collections.abc import Sequence

from torseur.emit import to_c, to_c_header, to_matlab, to_python
from torseur.emit.text.frame import shape_text
from torseur.export.functions import MARGIN, Array, ExportedFunction, Files, in_comment, one_line, table
from torseur.graph import Function, Role
from torseur.graph.blocks import Block
from torseur.graph.function import Output
from torseur.model import Model
from torseur.version import __version__

__all__ = [
    "c_files",
    "cmake_text",
    "matlab_files",
    "numbers_of_c",
    "prologue_of",
    "python_files",
    "readme_of_functions",
]


def c_files(model: Model, functions: Sequence[ExportedFunction]) -> Files:
    """The files of a folder."""
    name = model.mechanism.name
    texts = {
        "CMakeLists.txt": cmake_text(name, [f"{f.name}.c" for f in functions]),
        "README.md": readme_of_functions(model, functions, _HOW),
        "selftest.c": _selftest(model, functions),
        f"{name}.h": _umbrella(name, functions),
    }
    for f in functions:
        texts[f"{f.name}.c"] = to_c(f.function)
        texts[f"{f.name}.h"] = to_c_header(f.function)
    return {path: text.encode("utf-8") for path, text in texts.items()}


_HOW = """```sh
cmake -S . -B build && cmake --build build && ctest --test-dir build    # or: cc -O2 *.c -lm -o selftest && ./selftest
```

Of a function NAME: `NAME_prologue(parameters, work)` does what depends on parameters only, once they are known;
`NAME_time`, where there is one, what depends on the time; `NAME(inputs, work, outputs)` the rest. `work` is an array of
`NAME_WORK` numbers of the caller. Arrays are flat, row by row; a scalar input is passed by value."""


def _umbrella(name: str, functions: Sequence[ExportedFunction]) -> str:
    guard = f"{name}_ALL_H".upper()
    lines = [f"#ifndef {guard}", f"#define {guard}", "", *(f'#include "{f.name}.h"' for f in functions)]
    return "\n".join([f"/* All functions of {name}. */", *lines, "", f"#endif /* {guard} */", ""])


def cmake_text(name: str, sources: Sequence[str], program: str = "selftest") -> str:
    """A library, its self-test, and a test that runs it."""
    return f"""cmake_minimum_required(VERSION 3.10)
project({name} C)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_library({name}_code STATIC
  {chr(10).join(f"  {source}" for source in sources).strip()})
target_include_directories({name}_code PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
if(UNIX)
  target_link_libraries({name}_code PUBLIC m)
endif()
add_executable({program} {program}.c)
target_link_libraries({program} {name}_code)
enable_testing()
add_test(NAME {program} COMMAND {program})
"""


# -- what arrays hold --------------------------------------------------------------------------------------------------


def readme_of_functions(model: Model, functions: Sequence[ExportedFunction], how: str) -> str:
    """The order and the units of every array."""
    m = model.mechanism
    lines = [f"# {m.name}", ""]
    if m.title:
        lines += [" ".join(table(("",), [(m.title,)])[2].strip("| ").split()), ""]
    lines += [f"Written by Torseur {__version__}. Units are SI: m, kg, s, N, rad.", "", how, ""]
    for f in functions:
        lines += [f"## {f.name}", "", f"{f.quantity} of {m.name}.", ""]
        for what, items in (("input", f.function.inputs), ("output", f.function.outputs)):
            for item in items:
                elements = f.meanings.get(item.name, ())
                lines += [f"`{item.name}` {shape_text(item.shape)}, {what}", ""]
                rows = [(str(k), e.name, e.unit, e.meaning) for k, e in enumerate(elements)]
                lines += [*table(("place", "name", "unit", "meaning"), rows), ""] if rows else []
    return "\n".join(lines)


# -- the self-test -----------------------------------------------------------------------------------------------------


def numbers_of_c(name: str, values: Array, kind: str = "static const double") -> list[str]:
    """An array with its numbers, exactly; one of nothing has one zero."""
    texts = [repr(x) for x in values.tolist()] or ["0.0"]
    rows = ["    " + ", ".join(texts[k : k + 5]) for k in range(0, len(texts), 5)]
    return [f"{kind} {name}[{len(texts)}] = {{", ",\n".join(rows), "};"]


def prologue_of(function: Function) -> tuple[bool, bool]:
    """Whether the C of a function has a stage of its own for time, and takes parameters."""
    return f"{function.name}_time(" in to_c_header(function), any(b.role is Role.PARAMETER for b in function.inputs)


def _selftest(model: Model, functions: Sequence[ExportedFunction]) -> str:
    lines = [
        f"/* Calls every function of {model.mechanism.name} once and compares with what Torseur computed. */",
        f"/* {in_comment(one_line(model.mechanism.title))} */",
        "#include <math.h>",
        "#include <stdio.h>",
        f'#include "{model.mechanism.name}.h"',
        "",
        "static int compared(const char *name, const double *found, const double *expected, int n)",
        "{",
        "    double size = 1e-6, error = 0.0;",
        "    int k;",
        "    for (k = 0; k < n; ++k)",
        "        size = fabs(expected[k]) > size ? fabs(expected[k]) : size;",
        "    for (k = 0; k < n; ++k)",
        "        if (!(fabs(found[k] - expected[k]) <= error*size))",
        "            error = fabs(found[k] - expected[k])/size;",
        f'    printf("%-50s %s, error %.1e\\n", name, error <= {MARGIN!r} ? "ok" : "WRONG", error);',
        f"    return error <= {MARGIN!r};",
        "}",
    ]
    for k, f in enumerate(functions):
        lines += ["", *_test_of(k, f)]
    calls = [f"    good &= test{k}();" for k in range(len(functions))]
    return "\n".join([*lines, "", "int main(void)", "{", "    int good = 1;", *calls, "    return !good;", "}", ""])


def _test_of(number: int, f: ExportedFunction) -> list[str]:
    function, lines = f.function, list[str]()
    names = {}
    for k, (block, value) in enumerate(zip(function.inputs, f.given, strict=True)):
        names[block.name] = repr(float(value[0])) if block.shape == () else f"a{k}"
        if block.shape != ():
            lines += numbers_of_c(f"a{k}", value)
    outputs = []
    for k, value in enumerate(f.expected):
        lines += [*numbers_of_c(f"e{k}", value), f"double y{k}[{max(1, len(value))}];"]
        outputs.append(f"y{k}")
    takes_time, _ = prologue_of(function)
    stages = [("prologue", (Role.PARAMETER,))] + [("time", (Role.PARAMETER, Role.TIME))] * takes_time
    lines += [f"double work[{function.name}_WORK];", "int good = 1;"]
    for stage, roles in stages:
        arguments = [names[b.name] for b in function.inputs if b.role in roles]
        lines.append(f"{function.name}_{stage}({', '.join([*arguments, 'work'])});")
    lines.append(f"{function.name}({', '.join([*(names[b.name] for b in function.inputs), 'work', *outputs])});")
    for k, (output, value) in enumerate(zip(function.outputs, f.expected, strict=True)):
        if len(value):
            lines.append(f'good &= compared("{f.name}: {output.name}", y{k}, e{k}, {len(value)});')
    inside = [f"    {line}" for text in lines for line in text.split("\n")]
    return [f"static int test{number}(void)", "{", *inside, "    return good;", "}"]


_PYTHON = """```sh
python selftest.py
```

Every file holds one function of NumPy arrays `(..., *shape)` and needs nothing but NumPy."""

_MATLAB = """```sh
octave selftest.m
```

Every file holds one function, for MATLAB and Octave. Vectors are columns. The last result, `work`, may be handed in
again where parameters stay the same."""


# -- Python, MATLAB ----------------------------------------------------------------------------------------------------


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
