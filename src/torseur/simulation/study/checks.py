"""What can be wrong with a study, found before anything is built: names that its model does not know.

>>> from torseur.describe import Mechanism
>>> from torseur.simulation.study.study import Study
>>> cart = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}
>>> study = Study(model=Mechanism(name="slide", bodies={"cart": cart}), start={"y": 1.0}, inputs={"f": "2*dz"})
>>> [fault.what for fault in faults(study)]
["no coordinate or speed 'y'", "no input 'f'", "unknown name 'dz'"]
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from torseur.describe.annotations import FormulaUse, NameUse, walk
from torseur.describe.checks.scope import Scope
from torseur.describe.faults import Fault, Location, guess, written
from torseur.describe.fields import Record
from torseur.describe.formulas import Formula
from torseur.describe.mechanism import Mechanism
from torseur.errors import ModelError
from torseur.simulation.blocks.parts import is_multiplier
from torseur.simulation.integrate.hooks import resolution
from torseur.simulation.solvers.methods import METHODS
from torseur.simulation.study.study import Study

__all__ = ["check_study", "faults", "state_switches"]

MOST_RECORDS = 1e8
"""Of one run: more do not fit into the memory of usual machines."""


def check_study(study: Study) -> None:
    """Raise all that is wrong with a study, at once."""
    all_faults = faults(study)
    if all_faults:
        raise ModelError.of(all_faults)


def faults(study: Study) -> list[Fault]:
    """All faults of a study that its model alone decides, in the order of the fields."""
    scope = Scope(study.model)
    return [
        *_unknown(study.parameters, study.model.parameters, "parameter", ("parameters",)),
        *_derived(study.parameters, study, ("parameters",)),
        *_unknown(study.start, [*scope.coordinates, *scope.speeds], "coordinate or speed", ("start",)),
        *_unknown(study.guess, [*scope.coordinates, *scope.speeds], "coordinate or speed", ("guess",)),
        *_starts(study, scope),
        *_unknown(study.inputs, study.model.inputs, "input", ("inputs",)),
        *_formulas(study, scope),
        *_times(study),
        *_unknown([study.solver.method], METHODS, "method", ("solver", "method"), is_table=False),
        *_numbers(study),
        *_outputs(study, scope),
        *_changes(study),
        *_records(study),
        *_resolved(study),
    ]


def state_switches(study: Study) -> list[str]:
    """Formulas that jump where the state decides: nobody locates that, so it is to be said."""
    fixed = {"t", *study.model.parameters, *study.model.quantities}
    tables: dict[str, Mapping[str, Record]] = {"loads": study.model.loads, "constraints": study.model.constraints}
    tables |= {"quantities": study.model.quantities, "inputs": study.inputs, "blocks": study.blocks}
    switches = []
    for table, records in tables.items():
        for name, record in records.items():
            for one in walk(record, (table, name)):
                if not isinstance(one, FormulaUse) or not one.formula.switches:
                    continue
                if study.model.names_in(one.formula) - fixed:
                    switches.append(f"{written(one.path)}: '{one.formula.text[:80]}' switches with the state")
    return switches


def _unknown(
    names: Iterable[str], known: Collection[str], what: str, path: Location, *, is_table: bool = True
) -> Iterator[Fault]:
    for name in names:
        if name not in known:
            expected, remedy = guess(name, known)
            yield Fault(
                (*path, name) if is_table else path, f"no {what} '{name}'", expected=expected, remedy=remedy, about=name
            )


def _starts(study: Study, scope: Scope) -> Iterator[Fault]:
    """A value is held or may move; nothing moves in a start that is given, nor at rest."""
    for name in study.guess:
        if name in study.start:
            yield Fault(
                ("guess", name),
                f"'{name}' is also in start",
                remedy="a value under start is kept exactly; give it in one place only",
                about=name,
            )
        elif study.start_from == "given":
            text = "nothing moves in a start that is given"
            yield Fault(("guess", name), text, remedy="name it under start, or start_from: assembled")
    if study.start_from == "equilibrium":
        for field, table in (("start", study.start), ("guess", study.guess)):
            for name, speed in table.items():
                if name in scope.speeds and speed != 0.0:
                    text, expected = "a start at rest has no speeds", "0, or nothing"
                    remedy = "leave it out; a steady motion is found by torseur.equilibrium(model, speeds=...)"
                    yield Fault((field, name), text, expected=expected, got=f"{speed:g}", remedy=remedy)


def _derived(given: Iterable[str], study: Study, path: Location) -> Iterator[Fault]:
    """Parameters that follow from others cannot be set."""
    for name in given:
        known = study.model.parameters.get(name)
        if known is not None and isinstance(known.value, Formula):
            text = f"the parameter '{name}' is a formula of others"
            yield Fault(
                (*path, name), text, got=known.value.text[:80], remedy="set those, or change the model", about=name
            )


def _times(study: Study) -> Iterator[Fault]:
    if not study.until > study.begin:
        yield Fault(("until",), f"the end ({study.until:g} s) must come after the begin ({study.begin:g} s)")


def _numbers(study: Study) -> Iterator[Fault]:
    """Numbers of a method that the method has."""
    choice = METHODS.get(study.solver.method)
    for name in study.solver.numbers:
        if choice is not None and name not in choice.numbers:
            owners = ", ".join(method for method, other in METHODS.items() if name in other.numbers)
            text = f"the method '{study.solver.method}' has no {name}"
            yield Fault(("solver", name), text, expected=f"one of the methods that have it: {owners}")


def _resolved(study: Study) -> Iterator[Fault]:
    """Times between records and steps that the time can resolve."""
    shortest = resolution(study.begin, study.until)
    solver = study.solver
    given = {("every",): study.interval, ("solver", "step"): solver.step, ("solver", "longest"): solver.longest}
    for path, time in given.items():
        if time is not None and time < shortest and study.until > study.begin:
            text, expected = "too short for the resolution of time", f"at least {shortest:.3g} s"
            yield Fault(path, text, expected=expected, got=f"{time:g} s")


def _records(study: Study) -> Iterator[Fault]:
    count = (study.until - study.begin) / study.interval
    if count > MOST_RECORDS:
        text, expected = "too many records", f"at most {MOST_RECORDS:.0e}"
        yield Fault(("every",), text, expected=expected, got=f"{count:.3g}", remedy="more time between records")


def _changes(study: Study) -> Iterator[Fault]:
    for k, change in enumerate(study.changes):
        path: Location = ("changes", k, "set")
        yield from _unknown(change.set, study.model.parameters, "parameter", path)
        yield from _derived(change.set, study, path)
        if change.at is not None and change.at < study.begin:
            text, expected = "a change before the study begins", f"at least {study.begin:g} s"
            yield Fault(("changes", k, "at"), text, expected=expected, got=f"{change.at:g} s")


def _formulas(study: Study, scope: Scope) -> Iterator[Fault]:
    """Formulas of blocks use what the model has, and results of blocks; frames, coordinates and speeds exist."""
    results = (*study.inputs, *study.blocks)
    for table, blocks in (("inputs", study.inputs), ("blocks", study.blocks)):
        for name, block in blocks.items():
            if table == "blocks" and name in scope.symbols and name not in study.model.inputs:
                got = scope.symbols[name].what
                yield Fault(
                    (table, name),
                    f"the name '{name}' is taken",
                    got=got,
                    remedy="give the block another name",
                    about=name,
                )
            yield from _recorded(name, study.model, (table, name)) if table == "blocks" else ()
            for use in walk(block, (table, name)):
                yield from _name(use, scope) if isinstance(use, NameUse) else _formula(use, scope, results)


def _name(use: NameUse, scope: Scope) -> Iterator[Fault]:
    known = scope.named(use.thing)
    if use.name not in known:
        expected, remedy = guess(use.name, known)
        yield Fault(use.path, f"no {use.thing.value} '{use.name}'", expected=expected, remedy=remedy, about=use.name)


def _formula(use: FormulaUse, scope: Scope, results: Iterable[str] = ()) -> Iterator[Fault]:
    for name in sorted(use.formula.names - scope.symbols.keys() - use.local):
        is_result = any(name == block or name.startswith(f"{block}_") for block in results)
        is_result |= name in scope.mechanism.load_results
        if not is_result and not is_multiplier(name, scope.mechanism):
            multipliers = (f"lambda_{owner}" for owner in (*scope.mechanism.loops, *scope.mechanism.constraints))
            expected, remedy = guess(name, [*scope.symbols, *results, *scope.mechanism.load_results, *multipliers])
            got = use.formula.text[:80]
            yield Fault(use.path, f"unknown name '{name}'", expected=expected, got=got, remedy=remedy, about=name)


def _recorded(name: str, model: Mechanism, path: Location) -> Iterator[Fault]:
    """What every run records has its name."""
    always = {"time", "kinetic_energy", "potential_energy", *(f"d{x.name}" for x in model.v)}
    works = {f"work_{x}" for x in (*model.loads, *model.constraints, "blocks", "base")}
    if name in always | works:
        got, remedy = "something that every run records", "call it otherwise"
        yield Fault(path, f"the name '{name}' is taken", got=got, remedy=remedy, about=name)


def _outputs(study: Study, scope: Scope) -> Iterator[Fault]:
    for table in ("quantities", "outputs"):
        for name in getattr(study.model, table):
            yield from _recorded(name, study.model, ("model", table, name))
    for name, output in study.outputs.items():
        yield from _recorded(name, study.model, ("outputs", name))
        if name in scope.symbols:
            got = scope.symbols[name].what
            yield Fault(
                ("outputs", name),
                f"the name '{name}' is taken",
                got=got,
                remedy="give the output another name",
                about=name,
            )
        for use in walk(output, ("outputs", name)):
            if isinstance(use, FormulaUse):
                yield from _formula(use, scope, (*study.inputs, *study.blocks))
