"""The chord method: Newton's with the inverse of its matrix kept from step to step, as long as it converges.

With N from an earlier step, y <- y - N rho(y). Such steps converge linearly, by the rate theta at which corrections
fall; what is left after one of size s is theta / (1 - theta) s. Where they do not fall to half each time, N is made
anew; where that is no better, the step is solved by Newton's method. Slow convergence has the next step make it anew.

References: Hairer & Wanner, Solving Ordinary Differential Equations II, 2nd ed., IV.8, "stopping criterion" and
"simplified Newton"; Hindmarsh et al., SUNDIALS, ACM Trans. Math. Softw. 31 (2005) 363, on when to renew.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torseur.graph import Expr, Function, Graph, Truth, absolute, select
from torseur.simulation.solvers.newton import Ends, Found, Loop, Newton
from torseur.simulation.solvers.sheet import Sheet

__all__ = ["Chord", "Kept"]

REST = 1e-2
"""What may be left of the precision of Newton's method, which converges quadratically and leaves far less."""

CLOSED = 1e-4
"""The same where there are constraints, which are to hold to rounding."""

ROUNDING = 1e-5
"""A correction below this share of the precision is rounding."""

MOST = 6
"""Iterations under one matrix."""

SLOW = 3
"""Iterations above which the next step begins with a new matrix."""

DRIFT = 0.25
"""By what share of it steps may become longer or shorter under one matrix; that of CVODE is 0.3."""


@dataclass(frozen=True)
class Kept:
    """What goes from step to step, in this order: for which length the matrix was made (0: there is none), by what the
    rates rose in a second, and the matrix N, row by row.
    """

    made: Expr
    rise: Sequence[Expr]
    N: Sequence[Expr]

    @staticmethod
    def size(newton: Newton) -> int:
        return 1 + newton.nv + newton.nz + newton.size**2

    @classmethod
    def of(cls, newton: Newton, flat: Sequence[Expr]) -> Kept:
        n = 1 + newton.nv + newton.nz
        return cls(flat[0], flat[1:n], flat[n:])

    @property
    def flat(self) -> list[Expr]:
        return [self.made, *self.rise, *self.N]


@dataclass(frozen=True)
class _Tried:
    """What a chord iteration came to: unknowns, how many iterations, whether it converged."""

    unknowns: list[Expr]
    count: Expr
    good: Truth


class Chord:
    """Solves the equations at the end of a step: with the matrix at hand, with a new one, or by Newton's method."""

    def __init__(self, newton: Newton) -> None:
        self.newton = newton

    def solve(self, sheet: Sheet, where: Ends, lam: Sequence[Expr], kept: Kept) -> tuple[Found, Kept]:
        """The rates and multipliers at the end of a step, and what the next step is to know."""
        newton, h, zero, n = self.newton, where.h, sheet.graph.zero, self.newton.nv + self.newton.nz
        moves = h > 0.0  # a run that stands still beside others asks for nothing
        guess = [a + h * rise for a, rise in zip(where.before, kept.rise, strict=True)]
        given = {"rates": guess, "lam": lam, **where.blocks}
        stale = absolute(h - kept.made) > DRIFT * kept.made
        first = self._tried(sheet, moves & ~stale, given, kept.N)
        renewed = moves & ~first.good
        N = self._renewed(sheet, renewed, given, kept.N)
        second = self._tried(sheet, renewed, given, N)
        fails = renewed & ~second.good
        exact = newton.solve(sheet, _number(fails), where, where.before, lam)
        by_newton = [*exact.rates, *exact.lam]
        unknowns = [
            select(first.good, a, select(second.good, b, c))
            for a, b, c in zip(first.unknowns, second.unknowns, by_newton, strict=True)
        ]
        count = first.count + second.count
        lasts = select(first.good, first.count, second.count) <= float(SLOW)
        made = select((first.good | second.good) & lasts, select(first.good, kept.made, h), zero)
        rates = unknowns[:n]
        rise = [select(moves, (b - a) / h, zero) for a, b in zip(where.before, rates, strict=True)]
        converged = select(fails, exact.converged, _number(moves))
        total = count + select(fails, exact.count, zero)
        return Found(rates, unknowns[n:], total, converged), Kept(made, rise, N)

    def _tried(self, sheet: Sheet, wanted: Truth, given: dict[str, Sequence[Expr]], N: Sequence[Expr]) -> _Tried:
        newton, blocks = self.newton, {"wanted": [_number(wanted)], **given, "N": N}
        found = newton.iterated(sheet, self._iteration(sheet, blocks), blocks)
        count = select(wanted, found[newton.size], 0.0)
        return _Tried(found[: newton.size], count, wanted & (found[-1] > 0.5))

    def _renewed(self, sheet: Sheet, wanted: Truth, given: dict[str, Sequence[Expr]], N: Sequence[Expr]) -> list[Expr]:
        """A matrix of this step where it is wanted."""
        blocks = {"wanted": [_number(wanted)], **given}
        fresh = self.newton.iterated(sheet, self._renewal(sheet, blocks), blocks)
        return [select(wanted, a, b) for a, b in zip(fresh, N, strict=True)]

    def _renewal(self, outer: Sheet, given: dict[str, Sequence[Expr]]) -> Loop:
        """N where the motion is guessed to lead, as a loop that is run through once."""
        newton, sizes = self.newton, {name: len(block) for name, block in given.items()}
        size = newton.size**2
        sheet = outer.inner(newton.functions, **sizes)
        start = Function("renewal_start", sheet.inputs, {"state": [sheet.graph.zero] * size})
        sheet = outer.inner(newton.functions, state=size, **sizes)
        where, rates = Ends.of(sheet), sheet.block("rates")
        N = newton.inverse(sheet, where, newton.end(where, rates)[0], rates, sheet.block("lam"))
        step = Function("renewal", sheet.inputs, {"state": [e for row in N for e in row], "done": sheet.graph.one})
        g = Graph()
        state, done = g.block("state", size), g.block("done", 1)
        return Loop("renewal", start, step, Function("renewal_end", [state, done], {"N": state}), 1, is_gated=True)

    def _iteration(self, outer: Sheet, given: dict[str, Sequence[Expr]]) -> Loop:
        """The state: rates, multipliers, count, size of the last correction, whether that was small enough."""
        newton, sizes = self.newton, {name: len(block) for name, block in given.items()}
        sheet = outer.inner(newton.functions, **sizes)
        zero = sheet.graph.zero
        begin = [*sheet.block("rates"), *sheet.block("lam"), zero, zero, zero]
        start = Function("chord_start", sheet.inputs, {"state": begin})
        g = Graph()
        state, done = g.block("state", newton.size + 3), g.block("done", 1)
        finish = Function("chord_end", [state, done], {"found": state})
        return Loop("chord", start, self._step(outer, sizes), finish, MOST, is_gated=True)

    def _step(self, outer: Sheet, sizes: dict[str, int]) -> Function:
        newton = self.newton
        sheet = outer.inner(newton.functions, state=newton.size + 3, **sizes)
        n, state, where = newton.nv + newton.nz, sheet.block("state"), Ends.of(sheet)
        unknowns, (count, last, _) = state[: newton.size], state[newton.size :]
        rates, lam = unknowns[:n], unknowns[n:]
        x, _ = newton.end(where, rates)
        rho, values = newton.residual(sheet, where.t, x, rates, lam)
        F, N = [*rho, *newton.scaled(where.h, values)], sheet.block("N")
        steps = [_dot(N[i * len(F) : (i + 1) * len(F)], F) for i in range(len(F))]
        after = [a - d for a, d in zip(unknowns, steps, strict=True)]
        size = newton.excess(where, x, rates, steps[:n])
        rest = CLOSED if newton.rows else REST
        # theta / (1 - theta) size <= rest; a first correction says nothing yet of how they fall.
        good = (size * size <= rest * (last - size)) | (size <= ROUNDING)
        falls = (count < 0.5) | (size <= 0.5 * last)
        done = good | ~(falls & (size < math.inf)) | ~(sheet.block("wanted")[0] > 0.5)
        more = [count + 1.0, size, select(good, 1.0, 0.0)]
        return Function("chord_step", sheet.inputs, {"state": [*after, *more], "done": done})


def _number(truth: Truth) -> Expr:
    return select(truth, 1.0, 0.0)


def _dot(u: Sequence[Expr], v: Sequence[Expr]) -> Expr:
    total = u[0] * v[0]
    for a, b in zip(u[1:], v[1:], strict=True):
        total = total + a * b
    return total
