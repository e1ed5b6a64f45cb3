"""Candidates of a search: what the goals and limits of a campaign say about each of them.

A candidate is one set of the factors that are searched. It has as many runs as the campaign without the search: one, or
those of its levels, rows and samples, which are the same for all candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.campaign.description import Campaign, Goal

__all__ = ["Candidates"]

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
