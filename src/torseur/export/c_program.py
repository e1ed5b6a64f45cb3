"""A whole program, as EasyDyn wrote one: the study with a `main` that writes .res and .vol.

.res has one line for each instant: time, then q, dq/dt, d2q/dt2 of each coordinate, then inputs (the efforts of
actuators) and all else that a run records. .vol has the shapes of the mechanism at the start: nodes, edges and
surfaces; .van the nodes at each instant, three numbers a line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torseur.export.c_study import cmake_of_study, library_files, readme
from torseur.export.function_files import numbers_of_c, prologue_of
from torseur.export.functions import Array, Files
from torseur.export.study_parts import StudyParts
from torseur.graph import Role
from torseur.views.scene.drawing import drawing_of
from torseur.views.scene.parts import Point, Rod

__all__ = ["study_files"]

COLOURS = 15
"""EasyAnim's colours are numbers from 0 to 15."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of shapes in the frames of bodies; edges (rods) and surfaces (triangles) between them, with colours."""

    frames: list[str]
    bodies: list[int]
    places: Array
    edges: list[tuple[int, int, int]]
    surfaces: list[tuple[int, int, int, int]]


def study_files(parts: StudyParts) -> Files:
    """The library and its program."""
    nodes = _nodes(parts)
    poses = parts.poses(nodes.frames) if nodes.frames else None
    files = library_files(parts, [poses] if poses is not None else [])
    sources = sorted(path for path in files if path.endswith(".c"))
    files["main.c"] = _main(parts, nodes).encode("utf-8")
    files["README.md"] = readme(parts, _HOW.replace("STUDY", parts.name)).encode("utf-8")
    files["CMakeLists.txt"] = cmake_of_study(parts, sources).encode("utf-8")
    return files


_HOW = """```sh
cmake -S . -B build && cmake --build build && build/main     # or: cc -O2 *.c -lm -o main && ./main
```

`main` makes the run of the study and writes `STUDY.res` (time, then each coordinate with its first and second
derivative, then inputs and outputs), `STUDY.vol` and `STUDY.van` (for EasyAnim). In a program of your own:

```c
STUDY_state s;
STUDY_defaults(&s);            /* s.p and s.u may be changed now */
STUDY_init(&s);
while (s.status == STUDY_OK)
    STUDY_step(&s);            /* s.u may be changed between steps; STUDY_outputs(&s, y) */
```

A step has the length of the study's. Where an event lies within it (friction that sticks or slides, a contact or stop
that closes or opens), it is located on the dense output of the step, the switches are set there, and the rest of the
step is a shorter one; samples and breaks of signals end a step exactly. A status other than 0 says why the run cannot
go on; `STUDY_message` has it in words. Breaks of signals are those up to the end of the study."""


def _nodes(parts: StudyParts) -> Nodes:
    """The triangles and rods that pictures are made of, by body."""
    drawing = drawing_of(parts.plant.mechanism, parameters=dict(parts.study.parameters), folder=parts.folder)
    frames = list(dict.fromkeys([*(x.body for x in drawing.parts), *(p.body for r in drawing.rods for p in _ends(r))]))
    bodies, points = list[int](), list[Array]()
    edges, surfaces = list[tuple[int, int, int]](), list[tuple[int, int, int, int]]()
    for part in drawing.parts:
        first, body = len(bodies), frames.index(part.body)
        points.append(np.asarray(part.triangles.corners, dtype=float))
        bodies += [body] * len(part.triangles.corners)
        faces = np.asarray(part.triangles.faces).tolist()
        surfaces += [(first + a, first + b, first + c, 1 + body % COLOURS) for a, b, c in faces]
    for rod in drawing.rods:
        edges.append((len(bodies), len(bodies) + 1, COLOURS))
        for end in _ends(rod):
            points.append(np.reshape(end.place, (1, 3)))
            bodies.append(frames.index(end.body))
    return Nodes(frames, bodies, np.concatenate(points) if points else np.zeros((0, 3)), edges, surfaces)


def _ends(rod: Rod) -> tuple[Point, Point]:
    return rod.start, rod.end


def _columns(parts: StudyParts) -> list[tuple[str, str]]:
    """Names of columns and where they are: x and y by place."""
    model, n = parts.simulation.model, parts.problem
    nq, nv, rate_of = len(model.coordinates), len(model.speeds), model.mechanism.rates
    speeds, rates = [x.name for x in model.speeds], [e.name for e in parts.accelerations]
    motion = [(x.name, f"s.x[{k}]") for k, x in enumerate(model.coordinates)]
    if all(name in rate_of for name, _ in motion) and nq == nv:
        columns = []
        for name, place in motion:
            k = speeds.index(rate_of[name])
            columns += [(name, place), (speeds[k], f"s.x[{nq + k}]"), (rates[k], f"y[{k}]")]
    else:
        columns = motion + [(name, f"s.x[{nq + k}]") for k, name in enumerate(speeds)]
        columns += [(name, f"y[{k}]") for k, name in enumerate(rates)]
    columns += [(e.name, f"y[{nv + k}]") for k, e in enumerate(parts.outputs[nv:])]
    known = {name for name, _ in columns}
    states = parts.states[nq + nv :]
    columns += [(e.name, f"s.x[{nq + nv + k}]") for k, e in enumerate(states) if e.name not in known]
    assert n.size == len(parts.states)
    return list(dict(columns).items())


def _main(parts: StudyParts, nodes: Nodes) -> str:
    name, columns = parts.name, _columns(parts)
    grid = parts.simulation.grid
    lines = [
        f"/* The run of {name}: it writes {name}.res, {name}.vol and {name}.van. */",
        "#include <math.h>",
        "#include <stdio.h>",
        f'#include "{name}.h"',
        *([f'#include "{name}_f_poses.h"'] if nodes.frames else []),
        "",
        f"#define NODES {len(nodes.places)}",
        f"#define EDGES {len(nodes.edges)}",
        f"#define SURFACES {len(nodes.surfaces)}",
        f"#define BODIES {len(nodes.frames)}",
        "",
    ]
    lines += _node_tables(nodes)
    lines += [f"static {name}_state s;", f"static double y[{max(1, len(parts.outputs))}];", ""]
    lines += _drawing(parts, nodes)
    lines += _writing(parts, columns)
    lines += _running(parts, grid, bool(nodes.frames))
    return "\n".join([*lines, ""])


def _whole(name: str, values: list[int]) -> list[str]:
    flat = [str(k) for k in values] or ["0"]
    rows = ["    " + ", ".join(flat[k : k + 16]) for k in range(0, len(flat), 16)]
    return [f"static const int {name}[{len(flat)}] = {{", ",\n".join(rows), "};"]


def _node_tables(nodes: Nodes) -> list[str]:
    if not nodes.frames:
        return []
    return [
        *numbers_of_c("node_places", np.round(nodes.places, 9).ravel()),
        *_whole("node_bodies", nodes.bodies),
        *_whole("edges", [k for edge in nodes.edges for k in edge]),
        *_whole("surfaces", [k for surface in nodes.surfaces for k in surface]),
        "",
    ]


def _drawing(parts: StudyParts, nodes: Nodes) -> list[str]:
    """Nodes in the world, of which .vol has the first and .van all."""
    if not nodes.frames:
        return []
    function = parts.poses(nodes.frames)
    known = {"t": "s.t", "u": "s.u", "m": "s.m", "p": "s.p"}
    known |= {b.name: f"s.x + {parts.problem.columns(b.name).start}" for b in parts.problem.states}
    given = [known[b.name] for b in function.inputs]
    stage = [known[b.name] for b in function.inputs if b.role in (Role.PARAMETER, Role.TIME)]
    p = [known[b.name] for b in function.inputs if b.role is Role.PARAMETER]
    timed = [f"    {function.name}_time({', '.join([*stage, 'work'])});"] if prologue_of(function)[0] else []
    return [
        "static void write_nodes(FILE *file, int numbered)",
        "{",
        f"    double work[{function.name}_WORK], poses[12*BODIES];",
        "    int k, i;",
        f"    {function.name}_prologue({', '.join([*p, 'work'])});",
        *timed,
        f"    {function.name}({', '.join([*given, 'work', 'poses'])});",
        "    for (k = 0; k < NODES; ++k) {",
        "        const double *T = poses + 12*node_bodies[k], *r = node_places + 3*k;",
        "        if (numbered)",
        '            fprintf(file, "%d ", k + 1);',
        "        for (i = 0; i < 3; ++i)",
        '            fprintf(file, "%.9g%c", T[4*i]*r[0] + T[4*i + 1]*r[1] + T[4*i + 2]*r[2] + T[4*i + 3],',
        "                    i < 2 ? ' ' : '\\n');",
        "    }",
        "}",
        "",
        "static int write_vol(const char *path)",
        "{",
        '    FILE *file = fopen(path, "w");',
        "    int k;",
        "    if (!file)",
        "        return 0;",
        '    fprintf(file, "scene\\n%d\\n", NODES);',
        "    write_nodes(file, 1);",
        '    fprintf(file, "%d\\n", EDGES);',
        "    for (k = 0; k < EDGES; ++k)",
        '        fprintf(file, "%d %d %d %d\\n", k + 1, edges[3*k] + 1, edges[3*k + 1] + 1, edges[3*k + 2]);',
        '    fprintf(file, "%d\\n", SURFACES);',
        "    for (k = 0; k < SURFACES; ++k)",
        '        fprintf(file, "%d 3 %d %d %d %d\\n", k + 1, surfaces[4*k] + 1, surfaces[4*k + 1] + 1,',
        "                surfaces[4*k + 2] + 1, surfaces[4*k + 3]);",
        "    return fclose(file) == 0;",
        "}",
        "",
    ]


def _writing(parts: StudyParts, columns: list[tuple[str, str]]) -> list[str]:
    heading = " ".join(["time", *(name for name, _ in columns)])
    pieces = [heading[k : k + 90] for k in range(0, len(heading), 90)]
    return [
        "static const char heading[] =",
        '    "# "',
        *(f'    "{piece}"' for piece in pieces),
        '    "\\n";',
        "",
        "static void write_row(FILE *file)",
        "{",
        f"    {parts.name}_outputs(&s, y);",
        '    fprintf(file, "%.17g", s.t);',
        *(f'    fprintf(file, " %.17g", {place});' for _, place in columns),
        '    fprintf(file, "\\n");',
        "}",
        "",
    ]


def _running(parts: StudyParts, grid: Array, draws: bool) -> list[str]:
    """Records at the times of the study; those between two steps end a step."""
    name, until, every = parts.name, parts.study.until, parts.study.interval
    n = len(grid) - 1
    vol = [
        f'    if (!write_vol("{name}.vol"))',
        "        return 2;",
        f'    van = fopen("{name}.van", "w");',
        "    if (!van)",
        "        return 2;",
    ]
    return [
        "int main(void)",
        "{",
        f'    FILE *res = fopen("{name}.res", "w");',
        *(["    FILE *van;"] if draws else []),
        "    long k, seen = 0;",
        "    if (!res)",
        "        return 2;",
        "    fputs(heading, res);",
        f"    {name}_defaults(&s);",
        f"    s.end = {until!r};",
        f"    {name}_init(&s);",
        *(vol if draws else []),
        f"    for (k = 0; s.status == {name}_OK; ++k) {{",
        "        write_row(res);",
        *(["        write_nodes(van, 0);"] if draws else []),
        f"        if (k == {n})",
        "            break;",
        f"        {name}_advance(&s, k + 1 == {n} ? {until!r} : {parts.study.begin!r} + (double)(k + 1)*{every!r});",
        "        if (s.event_count > seen) {",
        '            printf("%ld events until %.9g s, the last at %.9g s\\n", s.event_count, s.t, s.last_event_time);',
        "            seen = s.event_count;",
        "        }",
        "    }",
        "    fclose(res);",
        *(["    fclose(van);"] if draws else []),
        f"    if (s.status != {name}_OK && s.status != {name}_STOPPED) {{",
        f'        fprintf(stderr, "at %.9g s: %s\\n", s.t, {name}_message(s.status));',
        "        return 1;",
        "    }",
        f'    printf("{name}: %ld steps, %ld events, t = %g s\\n", s.steps, s.event_count, s.t);',
        "    return 0;",
        "}",
    ]
