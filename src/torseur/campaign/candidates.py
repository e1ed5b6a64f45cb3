"""Candidates of a search: what the goals and limits of a campaign say about each of them, and slopes to search along.

A candidate is one set of the factors that are searched. It has as many runs as the campaign without the search: one, or
those of its levels, rows and samples, which are the same for all candidates.

Slopes are by sensitivities of runs where they have such, else by central differences. A candidate is then one run, or
one for each of its levels, rows and samples, and its slopes are one run of the sensitivities each. The first slope from
every start is compared with the difference of two runs on both sides: where something jumps that nobody knows of, they
do not agree, and the search goes on by differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from torseur.campaign.description import Between, Campaign, Goal
from torseur.campaign.measures import FormulaOfIndicators, Smooth
from torseur.campaign.targets import What
from torseur.campaign.work import Work
from torseur.describe.evaluation import topological_order
from torseur.describe.formulas import Formula
from torseur.errors import NumericalError
from torseur.graph import Function, Graph, evaluate, gradient
from torseur.simulation.run.sensitivities import Sensitivities, Varied

if TYPE_CHECKING:
    from torseur.campaign.search import Batches

__all__ = ["GOALS", "MARGINS", "RESIDUALS", "Candidates", "ExactSlopes", "Quantity", "Slopes"]


Array = NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """What came of some candidates.

    Attributes:
        campaign: with its search.
        factors: those that are searched, (candidates,).
        indicators: (candidates, runs of each); nan in a run that failed.
    """

    campaign: Campaign
    factors: Mapping[str, Array]
    indicators: Mapping[str, Array]

    def __len__(self) -> int:
        return len(next(iter(self.factors.values())))

    @property
    def goals(self) -> dict[str, Array]:
        """What is to be made least, by goal, (candidates,): nan where a run failed."""
        assert self.campaign.search is not None
        return {name: _cost(goal, self.indicators[name]) for name, goal in self.campaign.search.goals.items()}

    @property
    def residuals(self) -> Array:
        """Weighted distances from the targets, (candidates, goals*runs of each)."""
        assert self.campaign.search is not None
        goals = self.campaign.search.goals
        return np.concatenate([g.weight * (self.indicators[n] - g.target) for n, g in goals.items()], axis=1)

    @property
    def margins(self) -> Array:
        """How far the worst run is within each limit, (candidates, sides of limits): below zero beyond it."""
        found = []
        for name, limit in self.campaign.limits.items():
            x = self.indicators[name]
            found += [] if limit.at_most is None else [(limit.at_most - x).min(axis=1)]
            found += [] if limit.at_least is None else [(x - limit.at_least).min(axis=1)]
        return np.stack(found, axis=1) if found else np.zeros((len(self), 0))

    # -- derivatives ---------------------------------------------------------------------------------------------------
    def goal_slopes(self, slopes: Mapping[str, Array]) -> Array:
        """The derivatives of the goals, (candidates, goals, d).

        Args:
            slopes: of indicators, (candidates, runs of each, d).
        """
        assert self.campaign.search is not None
        found = []
        for name, goal in self.campaign.search.goals.items():
            x, dx = self.indicators[name], slopes[name]
            sign = (
                goal.weight * np.sign(x - goal.target) if goal.aim == "target" else 1.0 if goal.aim == "least" else -1.0
            )
            each = np.broadcast_to(sign, x.shape)[..., None] * dx
            worst = _of_run(each, _each_cost(goal, x).argmax(axis=1))
            found.append(worst if goal.over == "worst" else each.mean(axis=1))
        return np.stack(found, axis=1)

    def residual_slopes(self, slopes: Mapping[str, Array]) -> Array:
        """Of the residuals, (candidates, residuals, d)."""
        assert self.campaign.search is not None
        return np.concatenate([g.weight * slopes[n] for n, g in self.campaign.search.goals.items()], axis=1)

    def margin_slopes(self, slopes: Mapping[str, Array]) -> Array:
        """Of the margins, (candidates, sides of limits, d): those of the worst runs."""
        found = []
        for name, limit in self.campaign.limits.items():
            x, dx = self.indicators[name], slopes[name]
            found += [] if limit.at_most is None else [-_of_run(dx, x.argmax(axis=1))]
            found += [] if limit.at_least is None else [_of_run(dx, x.argmin(axis=1))]
        return np.stack(found, axis=1)

    @property
    def violations(self) -> Array:
        """How far a candidate is beyond all limits together, (candidates,): zero within; nan where a run failed."""
        return np.asarray(np.maximum(-self.margins, 0.0).sum(axis=1))

    @property
    def is_allowed(self) -> NDArray[np.bool_]:
        """Whether all runs have a result, and meet the limits."""
        goals = np.stack(list(self.goals.values()), axis=1)
        return np.asarray(~np.isnan(goals).any(axis=1) & (self.violations == 0.0))

    @property
    def best(self) -> int | None:
        """The number of the best one; None if none is allowed, or if several goals leave a front instead."""
        assert self.campaign.search is not None
        goals = self.campaign.search.goals
        if self.campaign.search.method == "least_squares":
            cost = (self.residuals**2).sum(axis=1)
        elif len(goals) == 1:
            (cost,) = self.goals.values()
        else:
            return None
        allowed = np.flatnonzero(self.is_allowed)
        return int(allowed[np.argmin(cost[allowed])]) if len(allowed) else None

    @property
    def front(self) -> list[int]:
        """The numbers of those that are allowed and that no other one beats in all goals at once."""
        points, found = np.stack(list(self.goals.values()), axis=1), list[int]()
        allowed = np.flatnonzero(self.is_allowed)
        for k in allowed.tolist():
            others = points[allowed]
            if not ((others <= points[k]).all(axis=1) & (others < points[k]).any(axis=1)).any():
                found.append(k)
        return found


def _of_run(slopes: Array, runs: NDArray[np.int64]) -> Array:
    """Of one run of each candidate."""
    return np.asarray(slopes[np.arange(len(runs)), runs])


def _each_cost(goal: Goal, values: Array) -> Array:
    """What is to be made least, of every run."""
    if goal.aim == "target":
        return goal.weight * np.abs(values - goal.target)
    return values if goal.aim == "least" else -values


def _cost(goal: Goal, values: Array) -> Array:
    """The same over the runs of each candidate."""
    cost = _each_cost(goal, values)
    return np.asarray(cost.max(axis=1) if goal.over == "worst" else cost.mean(axis=1))


APART = 2.0**-17
"""Half the distance of central differences, as a share of a range: about the cube root of the rounding unit.

With adaptive steps it is the cube root of the relative tolerance, which is the error of a run."""
FURTHER = 2.0**-10
"""The same where slopes are compared with it, and where something jumps."""
ALIKE = 0.01
"""The part by which a slope may differ from the difference it is compared with."""

_TABLES = {What.PARAMETER: "parameters", What.FIELD: "parameters", What.START: "starts", What.INPUT: "inputs"}


@dataclass(frozen=True)
class Quantity:
    """What a method looks at: numbers of candidates (candidates, m), and their derivatives by those of indicators."""

    of: Callable[[Candidates], Array]
    slope: Callable[[Candidates, Mapping[str, Array]], Array]


GOALS = Quantity(lambda found: np.stack(list(found.goals.values()), axis=1), Candidates.goal_slopes)
RESIDUALS = Quantity(lambda found: found.residuals, Candidates.residual_slopes)
MARGINS = Quantity(lambda found: found.margins, Candidates.margin_slopes)


class Slopes:
    """Quantities of candidates and their derivatives with respect to shares of the ranges.

    Args:
        batches: candidates in, what came of them out.
        told: called with the reason why slopes are differences, if they are.
    """

    def __init__(self, batches: Batches, told: Callable[[str | None], object]) -> None:
        self.batches, self.told = batches, told
        self.exact: ExactSlopes | None = ExactSlopes(batches.work)
        self._checked, self._apart = False, min(max(APART, self.noise ** (1.0 / 3.0)), 0.01)
        self._last: tuple[bytes, Candidates, Array] | None = None
        self._known: tuple[bytes, dict[str, Array]] | None = None
        is_wanted = batches.search.slopes == "exact"
        self._use(self.exact.why_not if is_wanted else "the campaign asks for them")

    def _use(self, reason: str | None) -> None:
        if reason is not None:
            self.exact = self._last = None
        self.told(reason)

    @property
    def noise(self) -> float:
        """The relative error of a run that differs from that of the next one."""
        work = self.batches.work
        return 0.0 if work.simulation.method.method.control is None else work.study.solver.rtol

    def begin(self) -> None:
        """A further start: its first slope is checked again."""
        self._checked = False

    def value(self, s: Array, quantity: Quantity) -> Array:
        """The quantity (m,) at shares s (d,)."""
        return np.asarray(self._values(s, quantity)[0])

    def slope(self, s: Array, quantity: Quantity) -> Array:
        """Its derivatives, (m, d)."""
        if self.exact is not None and not self._checked:
            self._check(s)
        if self.exact is None:
            values, points = self._values(s, quantity), self._found(s)[2]
            d = points.shape[1]
            apart = np.array([points[1 + k, k] - points[1 + d + k, k] for k in range(d)])
            return np.asarray(((values[1 : 1 + d] - values[1 + d :]) / apart[:, None]).T)
        self._values(s, quantity)
        found = np.asarray(quantity.slope(self._found(s)[1], self._slopes(s))[0])
        self._check_finite(found, self._found(s)[1])
        return found

    def _values(self, s: Array, quantity: Quantity) -> Array:
        found = self._found(s)[1]
        values = quantity.of(found)
        self._check_finite(values, found)
        return values

    @staticmethod
    def _check_finite(values: Array, found: Candidates) -> None:
        if not np.isfinite(values).all():
            raise NumericalError(
                "a run has no value where a smooth method needs it",
                got=", ".join(f"{n} = {x[0]:.6g}" for n, x in found.factors.items()),
                remedy="narrower ranges, or the method 'tpe'",
            )

    def _found(self, s: Array) -> tuple[bytes, Candidates, Array]:
        """What came of a candidate; where slopes are differences, with the points around it."""
        s = np.clip(s, 0.0, 1.0)
        key = s.tobytes()
        if self._last is None or self._last[0] != key:
            points = s[None, :]
            if self.exact is None:
                step = self._apart * np.eye(len(s))
                points = np.clip(np.concatenate([points, s + step, s - step]), 0.0, 1.0)
            self._last = key, self.batches(points), points
        return self._last

    def _slopes(self, s: Array) -> dict[str, Array]:
        """Of the indicators of a candidate, (1, runs, d)."""
        assert self.exact is not None
        key, found, points = self._found(s)
        if self._known is None or self._known[0] != key:
            self._known = key, self.batches.slopes(self.exact, found, points[0])
        return self._known[1]

    def _check(self, s: Array) -> None:
        """Compare with the difference along some direction."""
        assert self.exact is not None
        self._checked = True
        s = np.clip(s, 0.0, 1.0)
        noise = max(1e-12, 10.0 * self.noise)
        way = FURTHER / (1.0 + np.arange(len(s)))
        _, here, _ = self._found(s)
        slopes = self._slopes(s)
        points = np.clip(np.stack([s + way, s - way]), 0.0, 1.0)
        found = self.batches(points)
        for name, dx in slopes.items():
            along, x = dx[0] @ (points[0] - points[1]), found.indicators[name]
            change, least = x[0] - x[1], noise * np.abs(here.indicators[name][0])
            off = np.abs(along - change) > ALIKE * np.maximum(np.abs(along), np.abs(change)) + least
            if not np.isfinite(change).all() or off.any():
                self._apart = max(self._apart, FURTHER)
                self._use(f"'{name}' does not change as its derivative says: something jumps")
                return


class ExactSlopes:
    """The derivatives of the indicators that goals and limits are made of, by sensitivities of runs."""

    def __init__(self, work: Work) -> None:
        campaign, search = work.campaign, work.campaign.search
        assert search is not None
        self.work, self.search = work, search
        self.indicators = {n: campaign.indicators[n] for n in _needed(work, [*search.goals, *campaign.limits])}

    @cached_property
    def why_not(self) -> str | None:
        """Why there are none, in words."""
        for name, one in self.indicators.items():
            if not isinstance(one, (Smooth, FormulaOfIndicators)):
                return f"the indicator '{name}' ({one.kind}) has no derivative"
        return self.sensitivities.why_not

    @cached_property
    def sensitivities(self) -> Sensitivities:
        targets = {n: self.work.targets[n] for n in self.search.factors}
        varied = [
            Varied(_TABLES[target.what], target.name, self.search.factors[n].low, self.search.factors[n].high)  # type: ignore[arg-type]
            for n, target in targets.items()
        ]
        channels = dict.fromkeys(one.channel for one in self.indicators.values() if isinstance(one, Smooth))
        return Sensitivities(self.work.simulation, varied, list(channels))

    def of(self, work: Work, shares: Array, indicators: Mapping[str, Array], threads: int) -> dict[str, Array]:
        """By indicator with respect to shares of the ranges (d,), (runs, d).

        Args:
            work: the runs of one candidate.
            shares: where the candidate is in its ranges.
            indicators: what was measured, (runs,).
            threads: on this machine.
        """
        found = self.sensitivities.of(work.variants(0, work.runs), threads)
        values, d = work.named(work.values(0, work.runs)), len(shares)
        own = {n: np.tile(np.eye(d)[k], (work.runs, 1)) for k, n in enumerate(self.search.factors)}
        slopes = {work.targets[n].name: x for n, x in own.items() if work.targets[n].what is What.PARAMETER} | own
        for name, one in self.indicators.items():
            if isinstance(one, Smooth):
                slopes[name] = one.slope(found.time, found.values[one.channel], found.slopes[one.channel])
            elif isinstance(one, FormulaOfIndicators):
                slopes[name] = _of_formula(one.formula, {**values, **indicators}, slopes, (work.runs, d))
        widths = [_width(b, float(x)) for b, x in zip(self.search.factors.values(), shares, strict=True)]
        return {n: slopes[n] * widths for n in self.indicators}


def _needed(work: Work, wanted: list[str]) -> list[str]:
    """The indicators that some are made of, each after those it is made of."""
    every = work.campaign.indicators
    made = {n: one.formula.names if isinstance(one, FormulaOfIndicators) else () for n, one in every.items()}
    needed, open_ = set[str](), list(wanted)
    while open_:
        name = open_.pop()
        if name in every and name not in needed:
            needed.add(name)
            open_ += made[name]
    order, _ = topological_order({n: [x for x in made[n] if x in every] for n in every})
    return [n for n in order if n in needed]


def _of_formula(
    formula: Formula, values: Mapping[str, Array], slopes: Mapping[str, Array], shape: tuple[int, int]
) -> Array:
    """The chain rule, (runs, d)."""
    names = sorted(formula.names)
    graph = Graph()
    blocks = [graph.block(name) for name in names]
    symbols = [block.symbols[0] for block in blocks]
    total = np.zeros(shape)
    if not names:
        return total
    expr = formula.expr(graph, dict(zip(names, symbols, strict=True)))
    function = Function("slope", blocks, {"partials": gradient(expr, symbols)})
    with np.errstate(all="ignore"):
        (partials,) = evaluate(function, *(values[n] for n in names))
    for k, name in enumerate(names):
        if name in slopes:
            total = total + partials[..., k, None] * slopes[name]
    return np.asarray(total)


def _width(between: Between, share: float) -> float:
    """By how much a factor grows with its share of the range."""
    if between.scale == "log":
        ratio = between.high / between.low
        return float(between.low * ratio**share * np.log(ratio))
    return between.high - between.low
