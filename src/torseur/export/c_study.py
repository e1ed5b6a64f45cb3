"""A study as C99: its state, its start, one step of its method, its outputs; and a program that writes .res and .vol.

The functions are those that the native run calls, printed; the driver around them is in `runtime`, the same for all
studies. No allocation, no library but that of mathematics (the program also writes files).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files

import numpy as np

from torseur import __version__
from torseur.emit import to_c, to_c_header
from torseur.export.function_files import cmake_text, numbers_of_c, prologue_of
from torseur.export.functions import Array, Element, Files, in_comment, one_line, table
from torseur.export.study_parts import StudyParts
from torseur.export.switch_tables import SwitchTables
from torseur.graph import Function, Role

__all__ = ["library_files", "runtime_text"]

STATES = ("q", "v", "z")


def runtime_text(part: str, name: str) -> str:
    """A file of the runtime, for a study of a name."""
    return files("torseur.export").joinpath("runtime", part).read_text(encoding="utf-8").replace("STUDY", name)


def library_files(parts: StudyParts, more: Sequence[Function] = ()) -> Files:
    """The study as a library: NAME.h, NAME.c, and one source for each function."""
    name = parts.name
    stepping = parts.stepping[1] if parts.stepped else {}
    functions = [*parts.functions.values(), *stepping.values(), *more]
    texts = {f"{name}.h": _header(parts), f"{name}.c": _source(parts)}
    for function in functions:
        texts[f"{function.name}.c"] = to_c(function)
        texts[f"{function.name}.h"] = to_c_header(function)
    return {path: text.encode("utf-8") for path, text in texts.items()}


# -- sizes -------------------------------------------------------------------------------------------------------------
def sizes(parts: StudyParts) -> dict[str, int]:
    """The numbers that the runtime is compiled for."""
    problem, switches = parts.problem, parts.switches
    lengths = {n.upper(): problem.columns(n).stop - problem.columns(n).start for n in STATES}
    by_time = [c for c in parts.changes if c.time is not None]
    table = {f"N{n}": k for n, k in lengths.items()}
    table |= {"NX": problem.size, "NU": len(parts.u), "NM": len(parts.m), "NP": len(parts.p)}
    table |= {"NG": problem.event_count, "NY": len(parts.outputs), "NGROUPS": len(parts.groups)}
    table |= {"NCHANGES": len(by_time), "NEVENTCHANGES": len(parts.changes) - len(by_time)}
    table |= {"NVALUES": sum(len(s.values) for s in parts.plant.parts.samples), "NBREAKS": len(parts.breaks)}
    table |= {"DRIVEN": int(parts.plant.is_driven), "RESETS": int(parts.resets)}
    table |= {"STEPPED": int(parts.stepped), "CORRECTS": int("corrected" in parts.functions)}
    starts = parts.functions.get("starts")
    table |= {"STARTS": 0 if starts is None else len(starts.results), "NOWN": len(parts.own_held)}
    table |= {"NSAMPLES": len(parts.plant.parts.samples)}
    if parts.stepped:
        table["RECORD"] = parts.stepping[0].size
    table |= {"FIRST": 0, "NDRY": 0, "NSIDED": 0, "NSLIP": 0, "NSWITCHES": 0}
    if switches is not None:
        facts = switches.facts
        table |= {"FIRST": facts.first, "NDRY": len(facts.dry), "NSIDED": len(facts.sided)}
        table |= {"NSLIP": len(facts.slips), "NSWITCHES": facts.count, "NROWS": len(switches.row_kinds)}
        table["NCOMPONENTS"] = len(switches.components)
    for key in ("NG", "NM", "NP", "NU", "NSWITCHES", "NGROUPS"):
        table[f"{key}1"] = max(1, table[key])
    return table


# -- the header --------------------------------------------------------------------------------------------------------
def _header(parts: StudyParts) -> str:
    name, n = parts.name, sizes(parts)
    guard = f"{name}_STUDY_H".upper()
    works = [f"    double work_{role}[{f.name}_WORK];" for role, f in _all(parts).items()]
    size = n.get("RECORD", 0)
    record = f"    double record[{size}], trial[{size}], now[4], tolerance[{1 + n['NX']}];"
    inside = f"    double inside[{n['NX'] + 2 * n['NG']}];"
    state = [
        "typedef struct {",
        "    double t;                  /* time, s */",
        f"    double x[{n['NX']}];        /* states: see README.md */",
        f"    double u[{n['NU1']}];       /* inputs that nothing drives: set them between two steps */",
        f"    double p[{n['NP1']}];       /* parameters: set them before {name}_init */",
        f"    double m[{n['NM1']}];       /* samples and modes, held between instants */",
        "    double step, begun, end;   /* length of a step, start, end of samples, s */",
        "    long steps, event_count;   /* so far */",
        "    int last_event;            /* its number, -1 before the first */",
        "    double last_event_time;    /* s */",
        f"    int status;                /* {name}_OK, or why it goes on no more */",
        f"    double before[{n['NM1']}], sign[{n['NG1']}], slope[{n['NG1']}], slid[{n['NSWITCHES1']}];",
        f"    double periods[{n['NGROUPS1']}], offsets[{n['NGROUPS1']}], ticks[{n['NGROUPS1']}];",
        "    const double *breaks;",
        "    int breaks_count, next_break, next_change, crowded, fresh;",
        *([record, inside, f"    double seen[{n['NU1']}];"] if parts.stepped else []),
        *works,
        f"}} {name}_state;",
    ]
    status = ["OK", "NOT_FINITE", "NO_CONVERGENCE", "CHATTERING", "UNDECIDED", "REDUNDANT", "JUMP", "STOPPED"]
    called = [
        f"void {name}_defaults({name}_state *s); /* the numbers of the study */",
        f"int {name}_init({name}_state *s);      /* first samples; 0 where all is well */",
        *(
            [
                f"int {name}_step({name}_state *s);      /* one step of the study's length */",
                f"int {name}_advance({name}_state *s, double until); /* steps up to a time */",
            ]
            if parts.stepped
            else _MODEL_EXCHANGE.replace("STUDY", name).split("\n")
        ),
        *([f"void {name}_reset({name}_state *s);    /* from other parameters, inputs or states */"] * parts.resets),
        f"void {name}_outputs({name}_state *s, double *y); /* {n['NY']} numbers */",
        f"const char *{name}_message(int status);",
    ]
    lines = [
        f"/* {in_comment(parts.study.called)}: see README.md for what arrays hold. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        *(f'#include "{f.name}.h"' for f in _all(parts).values()),
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        *(f"#define {name}_{key} {n[key]}" for key in ("NX", "NQ", "NV", "NZ", "NU", "NM", "NP", "NG", "NY")),
        "",
        f"enum {{ {', '.join(f'{name}_{word}' for word in status)} }};",
        "",
        *state,
        "",
        *called,
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif /* {guard} */",
        "",
    ]
    return "\n".join(lines)


_MODEL_EXCHANGE = """void STUDY_rate(STUDY_state *s, double *dx);
void STUDY_indicators(STUDY_state *s, double *g);
int STUDY_happened(STUDY_state *s); /* at an event: set switches and samples right; whether states changed */
double STUDY_next_time(const STUDY_state *s);
int STUDY_drifted(STUDY_state *s); /* whether loops, constraints or quaternions are to be put right */"""


def _all(parts: StudyParts) -> dict[str, Function]:
    return {**parts.functions, **(parts.stepping[1] if parts.stepped else {})}


# -- the source --------------------------------------------------------------------------------------------------------
def _source(parts: StudyParts) -> str:
    name, n = parts.name, sizes(parts)
    head = [f"/* {in_comment(parts.study.called)}: {in_comment(one_line(parts.study.title))} */", "#include <math.h>"]
    head += ["#include <stdlib.h>", f'#include "{name}.h"', ""]
    head += [f"#define {key} {value}" for key, value in n.items()]
    head += (
        [f"#define BEGIN {parts.study.begin!r}", f"#define STEP {parts.step!r}"]
        if parts.stepped
        else [f"#define BEGIN {parts.study.begin!r}"]
    )
    pieces = ["\n".join(head), "\n".join(_tables(parts)), *_adaptors(parts), _prologues(parts), _schedule(parts)]
    runtime = ["common.c", "driver.c" if parts.stepped else "exchange.c", *_switching(parts.switches)]
    pieces += [runtime_text(part, name) for part in [*runtime, *(["reset.c"] if parts.resets else [])]]
    return "\n\n".join(piece.strip("\n") for piece in pieces) + "\n"


def _switching(switches: SwitchTables | None) -> list[str]:
    if switches is None:
        return ["no_switching.c"]
    sources = ["switching.c"]
    if switches.facts.sided:
        sources.append("impacts.c")
        if switches.facts.slips:
            sources.append("impact_friction.c")
    return sources


def _ints(name: str, values: Iterable[int]) -> str:
    texts = [str(int(k)) for k in values] or ["0"]
    return f"static const int {name}[{len(texts)}] = {{{', '.join(texts)}}};"


def _floats(name: str, values: Sequence[float] | Array) -> str:
    return "\n".join(numbers_of_c(name, np.asarray(values, dtype=float)))


def _tables(parts: StudyParts) -> list[str]:
    changes = parts.changes
    flat = [pair for c in changes for pair in c.values]
    starts = np.cumsum([0, *(len(c.values) for c in changes)]).tolist()
    lines = [
        _floats("start_x", parts.x),
        _floats("start_u", parts.u),
        _floats("start_m", parts.m),
        _floats("start_p", parts.p),
        _floats("break_times", parts.breaks),
        _floats("change_times", [c.time for c in changes if c.time is not None]),
        _ints("change_starts", starts),
        _ints("change_stops", [int(c.stop) for c in changes]),
        _ints("change_places", [k for k, _ in flat]),
        _floats("change_values", [x for _, x in flat]),
    ]
    if parts.problem.event_count:
        lines.append(_ints("change_events", [c.event for c in changes if c.event is not None]))
    groups = parts.groups
    if groups:
        lines.append(_ints("group_starts", np.cumsum([0, *(len(g.places) for g in groups)]).tolist()))
        lines.append(_ints("sample_places", [k for g in groups for k in g.places]))
        lines.append(_ints("sample_columns", [k for g in groups for k in g.columns]))
    if "starts" in parts.functions and parts.own_held:
        lines.append(_ints("own_places", parts.own_held))
    if parts.switches is not None:
        lines += _switch_tables(parts.switches)
    return lines


def _switch_tables(switches: SwitchTables) -> list[str]:
    facts, slips, components = switches.facts, switches.facts.slips, switches.components
    lines = [_ints("mode_places", facts.modes)]
    lines += [_ints("dry_places", [d.mode for d in facts.dry])] if facts.dry else []
    if facts.sided:
        lines += [_ints("closed_places", [s.closed for s in facts.sided])]
        lines += [_ints("hit_places", [s.hit for s in facts.sided])]
    if slips:
        lines.append(_ints("slip_places", [x.mode for x in slips]))
        lines.append(_ints("slip_axes", [k for x in slips for k in (*x.axes, -1)[:2]]))
        lines.append(_ints("slip_closed", [-1 if x.closed is None else x.closed for x in slips]))
    if slips and facts.sided:
        lines.append(_ints("slip_normal_rows", [x.normal for x in slips]))
        lines.append(_ints("slip_along_rows", [k for x in slips for k in (*x.along, -1)[:2]]))
        lines += [_ints("row_kinds", switches.row_kinds), _ints("row_sided", switches.row_sided)]
    lines.append(_ints("atom_starts", np.cumsum([0, *(len(c.atoms) for c in components)]).tolist()))
    lines.append(_ints("atom_kinds", [a.kind for c in components for a in c.atoms]))
    lines.append(_ints("atom_numbers", [a.number for c in components for a in c.atoms]))
    lines.append(_ints("rank_places", [k for c in components for k in c.places]))
    lines.append(_ints("rank_starts", np.cumsum([0, *(len(c.table) for c in components)]).tolist()))
    lines.append(_floats("rank_rows", [x for c in components for row in c.table for x in row]))
    return lines


# -- adaptors: every function of one shape -----------------------------------------------------------------------------
def _adaptors(parts: StudyParts) -> list[str]:
    adaptors = []
    for role, function in parts.functions.items():
        if role == "schedule":
            continue
        if role == "impact":
            outputs = ["A", "u", "M"]
            arguments = "double t, const double *x, const double *m, double *A, double *u, double *M"
        else:
            offsets = np.cumsum([0, *(len(o.exprs) for o in function.outputs)]).tolist()
            outputs = [f"y + {k}" for k in offsets[:-1]]
            arguments = "double t, const double *x, const double *m, double *y"
        adaptors.append(_adaptor(parts, role, function, arguments, outputs))
    if not parts.stepped:
        return adaptors
    for role, function in parts.stepping[1].items():
        if role == "at":
            known = {"theta": "&theta", "now": "s->now", "dense": "dense", "u": "s->u", "m": "s->m", "p": "s->p"}
            arguments = "double theta, const double *dense, double *y"
        else:
            known = {"now": "s->now", "last": "last", "tolerance": "s->tolerance"}
            known |= {"u": "s->u", "m": "s->m", "p": "s->p"}
            arguments = "const double *last, double *y"
        given = [known[b.name] for b in function.inputs]
        call = f"{function.name}({', '.join([*given, f's->work_{role}', 'y'])});"
        adaptors.append(_function(f"static void f_{role}({parts.name}_state *s, {arguments})", [call]))
    return adaptors


def _adaptor(parts: StudyParts, role: str, function: Function, arguments: str, outputs: Sequence[str]) -> str:
    problem, known = parts.problem, {"t": "t", "u": "s->u", "m": "m", "p": "s->p"}
    known |= {b.name: f"x + {problem.columns(b.name).start}" for b in problem.states}
    lines, work = [], f"s->work_{role}"
    if prologue_of(function)[0]:
        given = [known[b.name] for b in function.inputs if b.role in (Role.PARAMETER, Role.TIME)]
        lines.append(f"{function.name}_time({', '.join([*given, work])});")
    given = [known[b.name] for b in function.inputs]
    lines.append(f"{function.name}({', '.join([*given, work, *outputs])});")
    lines += [f"(void){a};" for a in ("t", "x", "m")]
    return _function(f"static void f_{role}({parts.name}_state *s, {arguments})", lines)


def _function(head: str, lines: Sequence[str]) -> str:
    return "\n".join([head, "{", *(f"    {line}" for line in lines), "}"])


def _prologues(parts: StudyParts) -> str:
    lines = []
    for role, function in _all(parts).items():
        given = ["s->p" for b in function.inputs if b.role is Role.PARAMETER]
        lines.append(f"{function.name}_prologue({', '.join([*given, f's->work_{role}'])});")
    return _function(f"static void prologues({parts.name}_state *s)", lines)


def _schedule(parts: StudyParts) -> str:
    """Breaks are those of the study; periods follow from parameters."""
    lines = ["s->breaks = break_times;", "s->breaks_count = NBREAKS;"]
    function = parts.functions.get("schedule")
    if function is not None:
        given = ["s->p"] if function.inputs else []
        lines = ["double periods[NSAMPLES], offsets[NSAMPLES];", *lines]
        lines.append(f"{function.name}({', '.join([*given, 's->work_schedule', 'periods', 'offsets'])});")
        for k, group in enumerate(parts.groups):
            lines.append(f"s->periods[{k}] = periods[{group.first_sample}];")
            lines.append(f"s->offsets[{k}] = offsets[{group.first_sample}];")
    return _function(f"static void schedule({parts.name}_state *s)", lines)


# -- words -------------------------------------------------------------------------------------------------------------
def places(elements: Sequence[Element], first: int = 0) -> list[str]:
    """What an array holds, as a table of Markdown."""
    rows = [(str(first + k), e.name, e.unit, e.meaning) for k, e in enumerate(elements)]
    return table(("place", "name", "unit", "meaning"), rows)


def readme(parts: StudyParts, how: str) -> str:
    study = parts.study
    title = [" ".join(table(("",), [(study.title,)])[2].strip("| ").split()), ""] if study.title else []
    lines = [f"# {table(('',), [(study.called,)])[2].strip('| ')}", "", *title]
    lines += [f"Written by Torseur {__version__}. Units are SI: m, kg, s, N, rad.", "", how, ""]
    free = set(parts.free_inputs)
    groups = [
        ("x, states", parts.states),
        ("u, inputs (those that a block drives are not read)", parts.inputs),
        ("p, parameters", parts.parameters),
        ("y, outputs", parts.outputs),
    ]
    for title_, elements in groups:
        if elements:
            lines += [f"## {title_}", "", *places(elements), ""]
    driven = [e.name for k, e in enumerate(parts.inputs) if k not in free]
    if driven:
        lines += [f"Driven by blocks: {', '.join(driven)}.", ""]
    if parts.events:
        lines += ["## Events, by number", "", *places([Element(name) for name in parts.events]), ""]
    return "\n".join(lines)


def cmake_of_study(parts: StudyParts, sources: Sequence[str]) -> str:
    """The library, and the program of the study."""
    return cmake_text(parts.name, sources, "main").replace("add_test(NAME main COMMAND main)\n", "")
