"""What can be wrong with a campaign, found before anything is built."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torseur.campaign.description import Campaign
from torseur.campaign.design import correlation_matrix
from torseur.campaign.factors import Distribution, Integers, Levels
from torseur.campaign.measures import FormulaOfIndicators
from torseur.campaign.targets import What, target_of, unknown_factor
from torseur.describe.evaluation import topological_order
from torseur.describe.faults import Fault, cycle_text, guess
from torseur.describe.formulas import Formula
from torseur.errors import Location, ModelError

__all__ = ["check_campaign", "faults"]

TAKEN = ("run", "outcome", "reason")
AXES = ("run", "time")


def check_campaign(campaign: Campaign) -> None:
    """Raise all that is wrong with a campaign, at once."""
    found = faults(campaign)
    if found:
        raise ModelError.of(found)


def faults(campaign: Campaign) -> list[Fault]:
    """All faults that the study alone decides, in the order of the fields."""
    return [
        *_factors(campaign),
        *_seeds(campaign),
        *_sampling(campaign),
        *_rows(campaign),
        *_indicators(campaign),
        *_limits(campaign),
        *_search(campaign),
    ]


def _factors(campaign: Campaign) -> Iterator[Fault]:
    if not campaign.names:
        yield Fault(("factors",), "nothing varies", expected="factors, or rows of a table")
    if not campaign.indicators and campaign.keep is None:
        yield Fault(("indicators",), "nothing is measured", expected="indicators, or channels to keep")
    for k, name in enumerate(campaign.keep.channels if campaign.keep else ()):
        if name in AXES:
            text = f"'{name}' cannot be kept: an axis of the files is called so"
            yield Fault(("keep", "channels", k), text, remedy="another name in the model")
    seen: dict[object, str] = {}
    for name, path in _named(campaign):
        if name in TAKEN:
            remedy = f"the full name: parameters.{name}, start.{name} or inputs.{name}"
            yield Fault(path, f"a column of the table is called '{name}'", remedy=remedy)
            continue
        target = target_of(campaign.study, name)
        if target is None:
            yield unknown_factor(campaign.study, name, path)
            continue
        other = seen.setdefault((target.what, target.name), name)
        if other is not name or campaign.names.count(name) > 1:
            yield Fault(path, f"'{name}' varies twice", got=f"also '{other}'", remedy="name it once")


def _seeds(campaign: Campaign) -> Iterator[Fault]:
    """Seeds are whole numbers, and no search has a way along them."""
    rows = (
        {n: [row[k] for row in campaign.rows.values] for k, n in enumerate(campaign.rows.columns)}
        if campaign.rows
        else {}
    )
    for name, path in _named(campaign):
        target = target_of(campaign.study, name)
        if target is None or target.what is not What.SEED:
            continue
        if path[0] == "search":
            text = "a seed cannot be searched: what it decides has no order"
            yield Fault(path, text, remedy="a factor with several seeds, over which the goal is a mean")
            continue
        factor = campaign.factors.get(name)
        if isinstance(factor, Distribution) and not isinstance(factor, Integers):
            yield Fault(path, "seeds are whole numbers", expected="integers, a list or a range", got=factor.kind)
            continue
        numbers = factor.levels if isinstance(factor, Levels) else np.array(rows.get(name, [0.0]))
        numbers = np.array([factor.low, factor.high]) if isinstance(factor, Integers) else numbers
        bad = numbers[(numbers != np.floor(numbers)) | (numbers < 0.0) | (numbers >= 2.0**53)]
        if len(bad):
            yield Fault(path, "seeds are whole numbers from 0 on", got=f"{bad[0]:.17g}")


def _named(campaign: Campaign) -> Iterator[tuple[str, Location]]:
    if campaign.search is not None:
        yield from ((name, ("search", "factors", name)) for name in campaign.search.factors)
    yield from ((name, ("factors", name)) for name in campaign.factors)
    if campaign.rows is not None:
        yield from ((name, ("rows", "columns", k)) for k, name in enumerate(campaign.rows.columns))


def _sampling(campaign: Campaign) -> Iterator[Fault]:
    drawn = [name for name, factor in campaign.factors.items() if isinstance(factor, Distribution)]
    sampling = campaign.sampling
    if sampling is None:
        if drawn:
            text = "a factor with a distribution needs 'sampling'"
            yield Fault(("factors", drawn[0]), text, remedy="sampling: {kind: random, count: 1000}")
        return
    if not drawn:
        yield Fault(("sampling",), "there is no distribution to sample", expected="a factor with a distribution")
    if sampling.kind in ("saltelli", "morris"):
        others = [name for name in campaign.names if name not in drawn]
        if others:
            text = "a design for sensitivities has factors with a distribution alone"
            yield Fault(("sampling", "kind"), text, got=", ".join(others))
        if sampling.correlations:
            text = "sensitivities need factors that are independent"
            yield Fault(("sampling", "correlations"), text, remedy="leave the correlations out")
    known = True
    for k, one in enumerate(sampling.correlations):
        for name in one.between:
            if name not in drawn:
                known = False
                expected, remedy = guess(name, drawn)
                text = f"no factor with a distribution '{name}'"
                yield Fault(("sampling", "correlations", k), text, expected=expected, remedy=remedy)
        if one.between[0] == one.between[1]:
            known = False
            yield Fault(("sampling", "correlations", k), "a factor cannot be correlated with itself")
    if known and sampling.correlations:
        least = float(np.linalg.eigvalsh(correlation_matrix(drawn, sampling))[0])
        if not least > 1e-12:
            text = "the matrix of correlations is not positive definite"
            got = f"a matrix with the eigenvalue {least:.3g}"
            remedy = "they contradict each other: lower one of them"
            yield Fault(("sampling", "correlations"), text, got=got, remedy=remedy)


def _rows(campaign: Campaign) -> Iterator[Fault]:
    rows = campaign.rows
    if rows is None:
        return
    if not rows.values:
        yield Fault(("rows",), "no rows", expected="a file, or values, with at least one row")
    bad = next((k for k, row in enumerate(rows.values) if len(row) != len(rows.columns)), None)
    if bad is not None:
        got = f"{len(rows.values[bad])} in row {bad + 1}"
        yield Fault(("rows", "values"), "a row has a value for every column", expected=str(len(rows.columns)), got=got)


def _indicators(campaign: Campaign) -> Iterator[Fault]:
    formulas = dict[str, list[str]]()
    parameters = [n for n, p in campaign.study.model.parameters.items() if not isinstance(p.value, Formula)]
    factors = [n for n in campaign.names if n.isidentifier()]
    usable = dict.fromkeys([*campaign.indicators, *factors, *parameters])
    for name, one in campaign.indicators.items():
        path: Location = ("indicators", name)
        if name in (*TAKEN, *campaign.names):
            yield Fault(path, f"the name '{name}' is taken", remedy="choose another name for the indicator")
        if not isinstance(one, FormulaOfIndicators):
            continue
        try:
            formulas[name] = sorted(one.formula.names)
        except ModelError as error:
            yield Fault(path, error.what, expected=error.expected, got=error.got, remedy=error.remedy)
            continue
        for used in formulas[name]:
            if used not in usable:
                expected, remedy = guess(used, usable)
                text = f"no indicator, factor or parameter '{used}'"
                yield Fault(path, text, expected=expected, got=one.value[:80], remedy=remedy)
    for cycle in topological_order(formulas)[1]:
        yield Fault(("indicators", cycle[0]), "circular definition of indicators", got=cycle_text(cycle))


def _limits(campaign: Campaign) -> Iterator[Fault]:
    for name in campaign.limits:
        if name not in campaign.indicators:
            expected, remedy = guess(name, campaign.indicators)
            yield Fault(("limits", name), f"no indicator '{name}'", expected=expected, remedy=remedy)


def _search(campaign: Campaign) -> Iterator[Fault]:
    search = campaign.search
    if search is None:
        return
    for name in search.goals:
        if name not in campaign.indicators:
            expected, remedy = guess(name, campaign.indicators)
            yield Fault(("search", "goals", name), f"no indicator '{name}'", expected=expected, remedy=remedy)
    if campaign.keep is not None:
        yield Fault(("keep",), "a search keeps no channels", remedy="any of its runs can be computed again")
    method: Location = ("search", "method")
    if search.method == "minimise" and len(search.goals) > 1:
        yield Fault(method, "this method minimises a single goal", remedy="nsga2, or a formula of indicators")
    if search.method == "least_squares" and any(goal.aim != "target" for goal in search.goals.values()):
        yield Fault(method, "least_squares needs a target for every goal", remedy="minimise")
    if search.method == "least_squares" and campaign.limits:
        yield Fault(method, "least squares take no limits", remedy="minimise, or leave the limits out")
    if campaign.sampling is not None and campaign.sampling.kind in ("saltelli", "morris"):
        text = "a search cannot use a design for sensitivity analysis"
        yield Fault(("sampling", "kind"), text, expected="random, latin_hypercube or sobol")
