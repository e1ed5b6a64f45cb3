"""A study as a functional mock-up unit of FMI 2.0 or 3.0, for co-simulation or model exchange: sources and description
inside, a binary where there is a C compiler. Times and identifiers in it come from its content; units are told in terms
of those of the SI, which importers convert by.
"""

from __future__ import annotations

import hashlib
import io
import math
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import quoteattr

from torseur import __version__
from torseur.errors import ArgumentError
from torseur.export.c_study import library_files, runtime_text
from torseur.export.functions import Element, Files, one_line
from torseur.export.study_parts import StudyParts

__all__ = ["BASES", "BaseUnit", "Fmu", "base_unit", "fmu_of"]

BASES = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
"""In the order of the standard."""


@dataclass(frozen=True)
class BaseUnit:
    """A product of powers of base units, and what it is multiplied by."""

    exponents: Mapping[str, int] = field(default_factory=dict)
    factor: float = 1.0

    def times(self, other: BaseUnit, power: int) -> BaseUnit:
        powers = {b: self.exponents.get(b, 0) + power * other.exponents.get(b, 0) for b in BASES}
        return BaseUnit({b: n for b, n in powers.items() if n}, self.factor * other.factor**power)


def _known() -> dict[str, BaseUnit]:
    """Without g, a gram or an acceleration, and C, a coulomb or a degree Celsius."""
    units = {base: BaseUnit({base: 1}) for base in BASES}
    newton, second = {"kg": 1, "m": 1, "s": -2}, {"s": 1}
    units |= {"1": BaseUnit(), "N": BaseUnit(newton), "J": BaseUnit({**newton, "m": 2}), "Hz": BaseUnit({"s": -1})}
    units |= {"W": BaseUnit({"kg": 1, "m": 2, "s": -3}), "Pa": BaseUnit({"kg": 1, "m": -1, "s": -2})}
    units["V"] = BaseUnit({"kg": 1, "m": 2, "s": -3, "A": -1})
    units |= {"Ohm": BaseUnit({"kg": 1, "m": 2, "s": -3, "A": -2}), "H": BaseUnit({"kg": 1, "m": 2, "s": -2, "A": -2})}
    units["Ω"] = units["Ohm"]
    units |= {"deg": BaseUnit({"rad": 1}, math.pi / 180.0), "°": BaseUnit({"rad": 1}, math.pi / 180.0)}
    units |= {"tr": BaseUnit({"rad": 1}, 2.0 * math.pi), "rev": BaseUnit({"rad": 1}, 2.0 * math.pi)}
    units |= {"min": BaseUnit(second, 60.0), "h": BaseUnit(second, 3600.0), "ms": BaseUnit(second, 1e-3)}
    units |= {"mm": BaseUnit({"m": 1}, 1e-3), "cm": BaseUnit({"m": 1}, 1e-2), "km": BaseUnit({"m": 1}, 1e3)}
    units |= {"t": BaseUnit({"kg": 1}, 1e3), "%": BaseUnit({}, 1e-2)}
    units |= {f"k{name}": BaseUnit(units[name].exponents, 1e3) for name in ("N", "J", "W", "Pa", "V", "Hz")}
    units |= {f"M{name}": BaseUnit(units[name].exponents, 1e6) for name in ("N", "J", "W", "Pa")}
    return units


KNOWN = _known()
_FACTOR = re.compile(r"([A-Za-zΩ°%]+|1)(?:\^?(-?\d+))?")


def base_unit(unit: str) -> BaseUnit | None:
    """A unit as files write it; None of one that is not known, or could be read in two ways.

    >>> dict(base_unit("N m").exponents), dict(base_unit("kg m2/s2").exponents)
    ({'kg': 1, 'm': 2, 's': -2}, {'kg': 1, 'm': 2, 's': -2})
    >>> base_unit("km/h").factor == 1000 / 3600, base_unit("N/m s"), base_unit("apples")
    (True, None, None)
    """
    base = BaseUnit()
    for place, part in enumerate(unit.strip().split("/")):
        factors = re.split(r"\s*[·*]\s*|\s+", re.sub(r"^\s*\((.*)\)\s*$", r"\1", part).strip())
        if place and len(factors) > 1 and "(" not in part:  # what is below the line?
            return None
        for factor in factors:
            match = _FACTOR.fullmatch(factor)
            if match is None or match[1] not in KNOWN:
                return None
            base = base.times(KNOWN[match[1]], int(match[2] or 1) * (-1 if place else 1))
    return base


VERSIONS, KINDS = ("2", "3"), ("cs", "me")


@dataclass(frozen=True)
class Fmu:
    """An FMU: its bytes, and whether there is a binary for this machine in it."""

    data: bytes
    has_binary: bool


@dataclass(frozen=True)
class _Variable:
    """A variable of the description."""

    name: str
    reference: int
    causality: str
    variability: str
    initial: str | None
    start: float | None
    unit: str
    meaning: str
    derivative_of: int | None = None


def fmu_of(parts: StudyParts, version: str, kind: str, *, binary: bool = True) -> Fmu:
    """The FMU of a study.

    Args:
        parts: of the study: `stepped` for co-simulation, and with `resets`.
        version: of the standard: 2 or 3.
        kind: cs or me.
        binary: whether to compile it, if there is a compiler.
    """
    if version not in VERSIONS or kind not in KINDS or parts.stepped != (kind == "cs") or not parts.resets:
        raise ArgumentError("no such FMU", expected="version 2 or 3, kind cs or me", got=f"{version}, {kind}")
    sources = {f"sources/{path}": data for path, data in library_files(parts).items()}
    wrapper = _wrapper(parts, version, kind)
    variables = _variables(parts, kind)
    listed = sorted([*(path.removeprefix("sources/") for path in sources if path.endswith(".c")), "fmi.c"])
    draft = _description(parts, version, kind, variables, "", listed)
    token = _token([*(data for _, data in sorted(sources.items())), wrapper.encode(), draft.encode()])
    files: Files = dict(sources)
    files["sources/fmi.c"] = wrapper.replace("GUID", f'"{token}"').encode()
    files["modelDescription.xml"] = _description(parts, version, kind, variables, token, listed).encode()
    if version == "3":
        files["sources/buildDescription.xml"] = _build(parts.name, listed).encode()
    library = _binary(files, parts.name, version) if binary else None
    if library is not None:
        files[library[0]] = library[1]
    return Fmu(_archive(files), library is not None)


def _token(parts: list[bytes]) -> str:
    digest = hashlib.sha256(b"".join(len(p).to_bytes(8, "little") + p for p in parts)).hexdigest()
    return f"{{{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}}}"


def _archive(found: Files) -> bytes:
    """A zip file whose times say nothing."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(found.items(), key=lambda item: (item[0] != "modelDescription.xml", item[0])):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type, entry.create_system, entry.external_attr = zipfile.ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(entry, data)
    return stream.getvalue()


# -- sources and binary ------------------------------------------------------------------------------------------------
def _wrapper(parts: StudyParts, version: str, kind: str) -> str:
    exchange = kind == "me"
    log = {
        "2": "void (*logger)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);",
        "3": "fmi3Log logger;",
    }
    environment = {"2": "fmi2ComponentEnvironment", "3": "fmi3Environment"}
    name = parts.name
    instance = runtime_text("fmi_instance.c", name)
    instance = instance.replace("LOGGER", log[version]).replace("ENVIRONMENT", environment[version])
    rate = f"{name}_rate(s, dx), (void)(y)" if exchange else "(void)(s), (void)(dx), (void)(y)"
    indicate = f"{name}_indicators(s, g)" if exchange else "(void)(s), (void)(g)"
    head = [f"#define EXCHANGE {int(exchange)}", f"#define RATE(s, dx, y) ({rate})"]
    head.append(f"#define INDICATE(s, g) ({indicate})")
    stubs = (_NO_STEPS if exchange else _NO_EXCHANGE).replace("STUDY", name)
    text = runtime_text(f"fmi{version}.c", name).replace("INSTANCE", f"{stubs}\n{instance}")
    return "\n".join([*head, text])


_NO_STEPS = """static int STUDY_advance(STUDY_state *s, double until)
{
    (void)s, (void)until;
    return STUDY_UNDECIDED;
}
"""
_NO_EXCHANGE = """static void STUDY_rate(STUDY_state *s, double *dx) { (void)s, (void)dx; }
static void STUDY_indicators(STUDY_state *s, double *g) { (void)s, (void)g; }
static int STUDY_happened(STUDY_state *s) { return s->status; }
static double STUDY_next_time(const STUDY_state *s) { return s->status ? s->t : INFINITY; }
static int STUDY_drifted(STUDY_state *s) { return s->status; }
"""
"""What the other kind of FMU would call: importers look for all functions of the standard."""

_FOLDERS = {
    ("2", "linux"): "linux64",
    ("2", "darwin"): "darwin64",
    ("2", "win32"): "win64",
}


def _folder(version: str) -> str:
    """Where binaries for this machine are."""
    machine = {"amd64": "x86_64", "x64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower())
    machine = machine or platform.machine().lower()
    if version == "2":
        return f"binaries/{_FOLDERS.get((version, sys.platform), sys.platform)}"
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    return f"binaries/{machine}-{system}"


def _binary(found: Files, name: str, version: str) -> tuple[str, bytes] | None:
    """The shared library, if there is a C compiler; None where there is none."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    ending = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for path, data in found.items():
            if path.startswith("sources/"):
                (folder / path.removeprefix("sources/")).write_bytes(data)
        sources = sorted(path.name for path in folder.glob("*.c"))
        command = [compiler, "-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", f"out{ending}"]
        made = subprocess.run([*command, *sources, "-lm"], cwd=folder, capture_output=True, text=True)
        if made.returncode != 0:
            raise ArgumentError("the C compiler refuses the FMU", where=compiler, got=made.stderr[-500:])
        return f"{_folder(version)}/{name}{ending}", (folder / f"out{ending}").read_bytes()


def _build(name: str, sources: list[str]) -> str:
    files = "\n".join(f"      <SourceFile name={quoteattr(path)}/>" for path in sources)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier={quoteattr(name)}>
    <SourceFileSet language="C99">
{files}
    </SourceFileSet>
    <Library name="m"/>
  </BuildConfiguration>
</fmiBuildDescription>
"""


# -- the description ---------------------------------------------------------------------------------------------------
def _variables(parts: StudyParts, kind: str) -> list[_Variable]:
    """All variables in the order of their references; see `runtime/fmi_instance.c`."""
    nx, nu, np_ = len(parts.states), len(parts.inputs), len(parts.parameters)
    variables, taken = list[_Variable](), set[str]()

    def add(e: Element, reference: int, causality: str, variability: str, initial: str | None, *more: object) -> None:
        start, derivative_of = (*more, None, None)[:2]
        if e.name not in taken:
            taken.add(e.name)
            number = None if start is None else float(str(start))
            of = derivative_of if isinstance(derivative_of, int) else None
            variables.append(
                _Variable(e.name, reference, causality, variability, initial, number, e.unit, e.meaning, of)
            )

    for k, e in enumerate(parts.states):
        add(e, k, "output", "continuous", "exact", parts.x[k])
    if kind == "me":
        for k, e in enumerate(parts.states):
            rate = Element(f"der({e.name})", f"{e.unit or '1'}/s".replace("/s/s", "/s^2"), f"rate of {e.name}")
            add(rate, nx + k, "local", "continuous", "calculated", None, k)
    for k in parts.free_inputs:
        add(parts.inputs[k], 2 * nx + k, "input", "continuous", None, parts.u[k])
    for k, e in enumerate(parts.parameters):
        add(e, 2 * nx + nu + k, "parameter", "fixed", "exact", parts.p[k])
    for k, e in enumerate(parts.outputs):
        add(e, 2 * nx + nu + np_ + k, "output", "continuous", "calculated")
    return variables


def _attributes(given: dict[str, object]) -> str:
    return "".join(
        f" {key}={quoteattr(one_line(str(value)))}" for key, value in given.items() if value not in (None, "")
    )


def _description(
    parts: StudyParts, version: str, kind: str, variables: list[_Variable], token: str, sources: list[str]
) -> str:
    study = parts.study
    events = parts.problem.event_count if kind == "me" else 0
    head: dict[str, object] = {
        "fmiVersion": "2.0" if version == "2" else "3.0",
        "modelName": parts.name,
        "guid" if version == "2" else "instantiationToken": token,
        "description": one_line(study.title) or one_line(study.called),
        "generationTool": f"Torseur {__version__}",
        "variableNamingConvention": "flat",
    }
    if version == "2":
        head["numberOfEventIndicators"] = events
    element = "ModelExchange" if kind == "me" else "CoSimulation"
    states = "canGetAndSetFMUstate" if version == "2" else "canGetAndSetFMUState"
    own: dict[str, object] = {"modelIdentifier": parts.name, states: "true"}
    if kind == "cs":
        own["canHandleVariableCommunicationStepSize"] = "true"
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<fmiModelDescription{_attributes(head)}>"]
    lines += _interface(element, own, version, sources)
    units = sorted({one_line(v.unit) for v in variables if one_line(v.unit)} | {"s"})
    lines += ["  <UnitDefinitions>", *map(_unit, units), "  </UnitDefinitions>"]
    experiment: dict[str, object] = {"startTime": study.begin, "stopTime": study.until}
    if parts.stepped:
        experiment["stepSize"] = study.interval
    elif study.solver.rtol > 0.0:
        experiment["tolerance"] = study.solver.rtol
    lines.append(f"  <DefaultExperiment{_attributes(experiment)}/>")
    lines += (_variables_2 if version == "2" else _variables_3)(parts, variables, events)
    return "\n".join([*lines, "</fmiModelDescription>", ""])


def _unit(unit: str) -> str:
    """A unit, in terms of those of the SI where it is known."""
    known = base_unit(unit)
    if known is None:
        return f"    <Unit name={quoteattr(unit)}/>"
    given: dict[str, object] = dict(known.exponents)
    if known.factor != 1.0:
        given["factor"] = repr(known.factor)
    return f"    <Unit name={quoteattr(unit)}><BaseUnit{_attributes(given)}/></Unit>"


def _interface(element: str, own: dict[str, object], version: str, sources: list[str]) -> list[str]:
    if version == "3":
        return [f"  <{element}{_attributes(own)}/>"]
    listed = [f"      <File name={quoteattr(path)}/>" for path in sources]
    return [
        f"  <{element}{_attributes(own)}>",
        "    <SourceFiles>",
        *listed,
        "    </SourceFiles>",
        f"  </{element}>",
    ]


def _variables_2(parts: StudyParts, variables: list[_Variable], events: int) -> list[str]:
    lines = ["  <ModelVariables>"]
    index = {v.reference: k for k, v in enumerate(variables, 1)}
    for v in variables:
        head = {"name": v.name, "valueReference": v.reference, "description": v.meaning, "causality": v.causality}
        head |= {"variability": v.variability, "initial": v.initial}
        real = {"unit": v.unit, "start": None if v.start is None else repr(v.start)}
        real["derivative"] = None if v.derivative_of is None else str(index[v.derivative_of])
        lines.append(f"    <ScalarVariable{_attributes(dict(head))}><Real{_attributes(dict(real))}/></ScalarVariable>")
    outputs = [index[v.reference] for v in variables if v.causality == "output"]
    rates = [index[v.reference] for v in variables if v.derivative_of is not None]
    unknown = sorted(index[v.reference] for v in variables if v.initial == "calculated")
    lines += ["  </ModelVariables>", "  <ModelStructure>"]
    for name, places in (("Outputs", outputs), ("Derivatives", rates), ("InitialUnknowns", unknown)):
        inside = [f'      <Unknown index="{k}"/>' for k in places]
        lines += [f"    <{name}>", *inside, f"    </{name}>"] if inside else []
    return [*lines, "  </ModelStructure>"]


def _variables_3(parts: StudyParts, variables: list[_Variable], events: int) -> list[str]:
    total = 2 * len(parts.states) + len(parts.inputs) + len(parts.parameters) + len(parts.outputs)
    lines = ["  <ModelVariables>"]
    clock = {"name": "time", "valueReference": total, "causality": "independent", "variability": "continuous"}
    lines.append(f"    <Float64{_attributes(clock | {'unit': 's', 'description': 'time'})}/>")
    for v in variables:
        given = {"name": v.name, "valueReference": v.reference, "description": v.meaning, "causality": v.causality}
        given |= {"variability": v.variability, "initial": v.initial, "unit": v.unit}
        given |= {"start": None if v.start is None else repr(v.start), "derivative": v.derivative_of}
        lines.append(f"    <Float64{_attributes(dict(given))}/>")
    for k in range(events):
        name = f"event {parts.events[k]}"
        given = {"name": name, "valueReference": total + 1 + k, "causality": "local", "variability": "continuous"}
        lines.append(f"    <Float64{_attributes(given | {'initial': 'calculated'})}/>")
    lines += ["  </ModelVariables>", "  <ModelStructure>"]
    outputs = [v.reference for v in variables if v.causality == "output"]
    rates = [v.reference for v in variables if v.derivative_of is not None]
    unknown = [v.reference for v in variables if v.initial == "calculated"]
    lines += [f'    <Output valueReference="{k}"/>' for k in outputs]
    lines += [f'    <ContinuousStateDerivative valueReference="{k}"/>' for k in rates]
    lines += [f'    <InitialUnknown valueReference="{k}"/>' for k in unknown]
    lines += [f'    <EventIndicator valueReference="{total + 1 + k}"/>' for k in range(events)]
    return [*lines, "  </ModelStructure>"]
