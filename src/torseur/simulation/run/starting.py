"""State and held numbers with which a run starts: assembled, driven, ranked, its switches settled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torseur.errors import NumericalError
from torseur.simulation.run.prepared import Prepared, flat
from torseur.simulation.solvers.problem import Array, Held
from torseur.simulation.start.driven import Beginning
from torseur.simulation.start.first_state import Start, StartRequest, first_state, requested_values
from torseur.simulation.start.report import check_rest, still_held
from torseur.simulation.switching.modes import Keeper

__all__ = ["Starting"]


class Starting:
    """The starts of one study."""

    def __init__(self, of: Prepared) -> None:
        self._of = of
        self.beginning = Beginning(of.plant, of.records, of.moving, of.study)

    def begun(self, given: Mapping[str, float] | None, u: Array | None, p: Array | None) -> tuple[Array, Held, Start]:
        """State and held numbers before switches are settled, and how they came about.

        Args:
            given: coordinates and speeds by name, beside those of the study.
            u, p: inputs and parameters in place of those of the study.
        """
        of, study, model = self._of, self._of.study, self._of.model
        p = model.parameter_values if p is None else p
        u = of.input_values if u is None else u
        changed = not (np.array_equal(p, model.parameter_values) and np.array_equal(u, of.input_values))
        held = Held(u.copy(), np.zeros(len(of.plant.facts.held)), p.copy())
        others, found = np.zeros(of.problem.size - len(of.names)), list[Start]()

        def request(inputs: Array) -> StartRequest:
            return StartRequest(study, given or {}, inputs, p, changed)

        def closed(inputs: Array) -> Array:
            found.append(first_state(of.moving.model, request(inputs)))
            return np.concatenate([found[-1].q, found[-1].v, others])

        first = np.concatenate([*requested_values(of.moving.model, request(np.zeros(0))), others])
        x, start = self.beginning.settled(first, held, closed), found[-1]
        of.ranks(study.begin, x, held)
        if not of.plant.facts.switches:
            of.ranks.check(study.begin, x, held)
        correct = of.plant.native("corrected")
        if correct is not None and study.start_from != "given" and not of.plant.facts.switches:
            for _ in range(2):
                x = flat(of.plant.evaluate(correct, study.begin, x, held))
            places = [of.names.index(n) for n in start.held]
            x[places] = np.concatenate([start.q, start.v])[places]
            self._check_finite(x, p)
        if not of.plant.facts.switches:
            self._check_rest(x, held)
        return x, held, start

    def _check_finite(self, x: Array, p: Array) -> None:
        """Refuse a start that is not a number: speeds follow with the least kinetic energy, which takes mass."""
        of = self._of
        bad = [name for name, value in zip(of.names, x, strict=False) if not np.isfinite(value)]
        if not bad:
            return
        q = x[of.problem.columns("q")]
        still = np.isfinite(q).all() and of.model.mobility(q, t=of.study.begin, parameters=p).massless
        raise NumericalError(
            f"no mass moves along {', '.join(still)}" if still else f"{', '.join(bad)} is not a number at the start",
            where=("start",),
            expected="every motion that constraints allow moves some mass" if still else None,
            remedy="give the bodies there a mass"
            if still
            else "look for divisions by zero, and inertias that are zero",
        )

    def first(
        self, keeper: Keeper, given: Mapping[str, float] | None, u: Array | None, p: Array | None
    ) -> tuple[Array, Held, Start]:
        """The same after switches are settled."""
        of = self._of
        x, held, began = self.begun(given, u, p)
        if of.plant.facts.switches:
            before, x = x, keeper.begin(of.study.begin, x, held)
            of.ranks.check(of.study.begin, x, held)
            x = x if keeper.events else still_held(began, of.names, before, x)
            self._check_rest(x, held)
        return x, held, began

    def _check_rest(self, x: Array, held: Held) -> None:
        of = self._of
        if of.study.start_from != "equilibrium":
            return
        rates = of.rate_at(of.study.begin, x, held)
        q, vdot = x[of.problem.columns("q")], rates[of.problem.columns("v")]
        check_rest(of.model, q, vdot, t=of.study.begin, parameters=held.p)
