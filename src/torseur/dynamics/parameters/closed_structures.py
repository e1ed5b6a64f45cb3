"""Base parameters of closed structures: Bennis & Khalil 1991, Khalil & Dombre 9.4.4.

Along the motions that loops and constraints allow, v = N a, only N' Y counts: columns of the regressor that differ for
the tree may be combinations of each other. They are found in two ways, one after the other:

1. by rule: an inertia that a joint does not notice has the same energy on either side of it. That is how the rules of a
   tree grow, and it holds for cut joints as well (a point mass at a pin belongs to either bar). Formulas are exact;
2. by numbers, for what the shape of a loop adds (links of a parallelogram turn alike): the columns of N' Y left, at
   many allowed states reached from the start, for several values of the parameters. A relation whose factors are
   products of powers of the parameters at all these values is taken for what it is; one that holds at the values of the
   description only is told apart (`at_values`), for it is lost when a length changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from torseur.describe import Mechanism
from torseur.dynamics.constrained_motion.closed_states import AllowedMotions
from torseur.dynamics.constraints.rows import Cut
from torseur.dynamics.parameters.base_parameters import (
    KEPT_FIRST,
    BaseParameters,
    Combination,
    accumulate,
    base_parameters,
)
from torseur.dynamics.parameters.dependence import Elimination, Row, identifiable
from torseur.dynamics.parameters.regressor import TEN, StandardParameter, regressor
from torseur.dynamics.tree.kinematics import FrameState
from torseur.dynamics.tree.tree import Tree
from torseur.dynamics.workbench import Options, Workbench
from torseur.graph import Expr, Function, ops
from torseur.graph.function import reachable
from torseur.spatial.inertia import Inertia
from torseur.spatial.joints import FIXED

__all__ = ["ClosedParameters", "closed_base_parameters", "projected_regressor", "with_parameters", "workbench_of"]

_EQUAL = 1e-6
_LARGEST_POWER = 4

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClosedParameters:
    """The base parameters of a closed structure.

    Attributes:
        tree: those of its open tree.
        base: those of the closed one, for all values of the parameters but exceptional ones.
        at_values: those at the values of the description, which may be fewer; None where no closed state is known.
    """

    tree: BaseParameters
    base: BaseParameters
    at_values: BaseParameters | None


def closed_base_parameters(w: Workbench) -> ClosedParameters:
    """The base parameters of a mechanism with loops or constraints; its tree must not be regrouped."""
    tree = base_parameters(w.tree)
    algebra = Elimination(w.system)
    by_rule = _merged(algebra, tree, _by_rule(w, algebra, tree))
    states = AllowedMotions(w)
    if not states.exist or not states.freedoms:
        return ClosedParameters(tree, by_rule, None)
    by_numbers = _ByNumbers(w, states, by_rule)
    return ClosedParameters(
        tree,
        _merged(algebra, by_rule, by_numbers.formulas()),
        _merged(algebra, by_rule, by_numbers.numbers()),
    )


def workbench_of(mechanism: Mechanism, options: Options, fixed: Mapping[str, float] | None = None) -> Workbench:
    """A workbench for a quantity, with the base parameters of the closed structure if its options ask for them."""
    if not options.closed_parameters:
        return Workbench(mechanism, options, fixed)
    plain = Workbench(mechanism, replace(options, base_parameters=False, closed_parameters=False), fixed)
    tree = with_parameters(plain.tree, closed_base_parameters(plain).base)
    return Workbench(mechanism, options, system=plain.system, tree=tree)


def projected_regressor(w: Workbench, parameters: Sequence[StandardParameter], p: Array, seed: int = 0) -> Array:
    """N' Y at random allowed motions, one under the other: (rows, parameters), twice as many rows as columns."""
    return _Projected(w, AllowedMotions(w), parameters).stack(p, seed)


def with_parameters(tree: Tree, base: BaseParameters) -> Tree:
    """The tree with base parameters in place of its standard ones, and zeros for those regrouped with them."""
    g, values = tree.system.graph, dict(zip(base.kept, base.values, strict=True))
    ten: dict[int, list[Expr]] = {}
    rotors = []
    for i, p in enumerate(base.standard):
        value = values.get(i, g.zero)
        if p.symbol in TEN:
            ten.setdefault(p.link, []).append(value)
        elif p.symbol in ("IA", "JM") and p.speed is not None and value is not g.zero:
            rotors.append(tree.drive(p.speed, value) if p.rotor is None else replace(p.rotor, inertia=value))
    return tree.carrying({k: Inertia.from_ten(*row) for k, row in ten.items()}, rotors)


# -- relations ---------------------------------------------------------------------------------------------------------
Relations = dict[int, Combination]
"""Place of a parameter that is given up -> its column in terms of those that stay, by place."""


def _merged(algebra: Elimination, base: BaseParameters, relations: Relations) -> BaseParameters:
    """The parameters that stay, with those given up among their groups."""
    groups = dict(zip(base.kept, (dict(group) for group in base.groups), strict=True))
    merged = {k: group for k, group in groups.items() if k not in relations}
    for gone, column in relations.items():
        for k, factor in column.items():
            accumulate(merged[k], groups[gone], factor)
    kept = sorted(merged)
    rows = algebra.without_zeros([dict(sorted(merged[k].items())) for k in kept]) if kept else []
    return BaseParameters(base.standard, tuple(kept), tuple(rows))


def _least_wanted(base: BaseParameters) -> list[int]:
    """The places in `kept`, those first that are given up first: on late links, and of symbols that SYMORO regroups."""
    rank = {symbol: k for k, symbol in enumerate(KEPT_FIRST)}
    key = [(base.standard[k].link, rank.get(base.standard[k].symbol, -1)) for k in base.kept]
    return sorted(range(len(key)), key=lambda i: key[i], reverse=True)


def _by_rule(w: Workbench, algebra: Elimination, base: BaseParameters) -> Relations:
    """What cut joints do not notice, moved across them."""
    zero = w.system.graph.zero
    rows = [row for cut in w.constraints.cuts for row in _across(w, base, cut)]
    table = [[_column(group, row, zero) for group in base.groups] for row in rows]
    if not any(x is not zero for row in table for x in row):
        return {}
    reduction = algebra.reduced(table, _least_wanted(base))
    return {
        base.kept[column]: {base.kept[i]: -x for i, x in enumerate(row) if i not in reduction and x is not zero}
        for column, row in reduction.items()
    }


def _column(group: Mapping[int, Expr], row: Row, zero: Expr) -> Expr:
    """The factor of a parameter that stays, in a row over all."""
    total = zero
    for i, factor in group.items():
        if row[i] is not zero:
            total = total + factor * row[i]
    return total


def _across(w: Workbench, base: BaseParameters, cut: Cut) -> Iterator[Row]:
    """Rows over all standard parameters whose combination of columns vanishes: K on one side less K on the other."""
    g, kind = w.system.graph, w.system.mechanism.loops[cut.name].algebra
    for k in range(10):
        unit = Inertia.from_ten(*(g.one if i == k else g.zero for i in range(10)))
        moved = unit if kind is FIXED else kind.unnoticed(unit)
        if all(x is g.zero for x in moved.ten()):
            continue
        row: Row | None = [g.zero] * len(base.standard)
        for end, sign in ((cut.a, 1.0), (cut.b, -1.0)):
            row = row and _with(base, row, end, moved, sign)
        if row is not None:
            yield row


def _with(base: BaseParameters, row: Row, end: FrameState, inertia: Inertia, sign: float) -> Row | None:
    """The row with an inertia at a frame; None if its link has no parameters that could hold it."""
    if end.link < 0:
        return row
    places = [i for i, p in enumerate(base.standard) if p.link == end.link and p.symbol in TEN]
    longer = list(row)
    for i, x in zip(places, (end.offset @ inertia).ten(), strict=False):
        longer[i] = longer[i] + sign * x
    return longer if places else None


# -- by numbers --------------------------------------------------------------------------------------------------------
class _ByNumbers:
    """Relations among the columns that are left, at allowed states."""

    def __init__(self, w: Workbench, states: AllowedMotions, base: BaseParameters) -> None:
        self.w, self.base = w, base
        kept = [base.standard[k] for k in base.kept]
        self._projected = _Projected(w, states, kept)
        self._prefer = _least_wanted(base)[::-1]
        self._p = states.parameters
        self._first = self._relations(self._p)

    def _relations(self, p: Array) -> tuple[tuple[int, ...], Array] | None:
        W = self._projected.stack(p)
        if len(W) < W.shape[1]:
            return None
        basis = identifiable(W, prefer=self._prefer)
        return basis.kept, basis.combination

    def numbers(self) -> Relations:
        """At the values of the description."""
        if self._first is None:
            return {}
        kept, B = self._first
        g = self.w.system.graph
        return self._as_relations(kept, [[g.number(_rounded(x)) for x in row] for row in B])

    def formulas(self) -> Relations:
        """Those that hold whatever the parameters; none unless all factors are recognised."""
        if self._first is None:
            return {}
        kept, B = self._first
        if len(kept) == len(self.base.kept):
            return {}
        lengths = self._lengths()
        rng, samples = np.random.default_rng(4), [(self._p, B)]
        for _ in range(len(lengths) + 3 if lengths else 0):
            p = self._p.copy()
            p[lengths] *= rng.uniform(0.85, 1.15, len(lengths))
            other = self._relations(p)
            if other is None or other[0] != kept:
                return {}
            samples.append((p, other[1]))
        table: list[list[Expr]] = []
        for i in range(len(kept)):
            row = []
            for j in range(B.shape[1]):
                x = self._formula(lengths, np.array([p for p, _ in samples]), np.array([b[i, j] for _, b in samples]))
                if x is None:
                    return {}
                row.append(x)
            table.append(row)
        return self._as_relations(kept, table)

    def _as_relations(self, kept: Sequence[int], B: Sequence[Sequence[Expr]]) -> Relations:
        zero, places = self.w.system.graph.zero, self.base.kept
        gone = [j for j in range(len(places)) if j not in kept]
        return {
            places[j]: {places[k]: row[j] for k, row in zip(kept, B, strict=True) if row[j] is not zero} for j in gone
        }

    def _lengths(self) -> list[int]:
        """The parameters that motions and columns depend on, by place in p."""
        rows = self.w.constraints
        exprs = [x for table in (self._projected.Y, rows.A, [rows.h, rows.c]) for row in table for x in row]
        used = {node.data[1] for node in reachable(exprs) if node.op is ops.SYMBOL and node.data[0] == "p"}
        return sorted(int(k) for k in used)

    def _formula(self, lengths: Sequence[int], p: Array, values: Array) -> Expr | None:
        """A number, or a product of powers of parameters, that has these values; None if there is none."""
        g, size = self.w.system.graph, float(np.abs(values).max())
        if size < _EQUAL:
            return g.zero
        if np.ptp(values) < _EQUAL * size:
            return g.number(_rounded(float(values[0])))
        if np.abs(values).min() < _EQUAL * size or not (p[:, lengths] != 0.0).all():
            return None
        logs = np.column_stack([np.log(np.abs(p[:, lengths])), np.ones(len(p))])
        powers = np.round(np.linalg.lstsq(logs, np.log(np.abs(values)), rcond=None)[0][:-1])
        left = values / np.prod(p[:, lengths] ** powers, axis=1)
        if np.ptp(left) > _EQUAL * np.abs(left).max() or np.abs(powers).max() > _LARGEST_POWER:
            return None
        formula = g.number(_rounded(float(left[0])))
        for k, power in zip(lengths, powers, strict=True):
            for _ in range(int(abs(power))):
                formula = formula * self.w.system.p.symbols[k] if power > 0 else formula / self.w.system.p.symbols[k]
        return formula


class _Projected:
    """N' Y of some parameters."""

    def __init__(self, w: Workbench, states: AllowedMotions, parameters: Sequence[StandardParameter]) -> None:
        self.states, self.columns = states, len(parameters)
        self.Y = regressor(w.tree, parameters, list(w.block("vdot")), w.gravity)
        known = (w.system.q, w.system.v, w.block("vdot"), w.system.graph.blocks["t"], w.system.u, w.system.p)
        self._function = Function("regressor", [b for b in known if b.size], {"Y": self.Y})

    def stack(self, p: Array, seed: int = 0) -> Array:
        """At random motions, one under the other."""
        n = 10 + 2 * self.columns // max(1, self.states.freedoms)
        motions = self.states.motions(n, p, seed)
        return np.asarray(np.swapaxes(motions.N, 1, 2) @ motions.at(self._function)).reshape(-1, self.columns)


def _rounded(x: float) -> float:
    """The plain fraction that a number is, to what it is known."""
    near = float(Fraction(x).limit_denominator(12))
    return near if abs(near - x) < _EQUAL * max(1.0, abs(x)) else x
