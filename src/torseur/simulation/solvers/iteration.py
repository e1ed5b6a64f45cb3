"""A bounded loop as a node of a graph: what Newton's method inside a step is written with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torseur.errors import GraphError
from torseur.graph import Expr, Function
from torseur.graph.calls import Callee, Iteration, Tangent
from torseur.graph.evaluate import evaluate_flat
from torseur.graph.nodes import Bundle

__all__ = ["Loop"]


class Loop(Callee):
    """state = start(args); until done, state, done = step(state, args); at last finish(state, done).

    It has no derivative: steps of integration are not differentiated.

    Args:
        limit: of the iterations.
        is_gated: whether the first argument, 0 or 1, says that the loop is wanted; else the results say nothing.
    """

    def __init__(
        self, name: str, start: Function, step: Function, finish: Function, limit: int, *, is_gated: bool = False
    ) -> None:
        self.name, self.meaning, self.is_gated = name, "the state that a loop ends with", is_gated
        self.n_out = len(finish.results)
        self._iteration = Iteration(start, step, finish, len(start.results), limit)
        parts = [c.depth for f in (start, step, finish) for c in f.callees]
        self.depth = 1 + max(parts, default=0)

    @property
    def digest(self) -> str:
        loop = self._iteration
        parts = loop.start.digest, loop.step.digest, loop.finish.digest, str(loop.limit)
        return ":".join(["gated loop" if self.is_gated else "loop", *parts])

    def lowering(self) -> Iteration:
        return self._iteration

    def tangent(self, bundle: Bundle, tangents: Sequence[Tangent]) -> list[Expr]:
        raise self._refusal()

    def adjoint(self, bundle: Bundle, weights: Sequence[Expr]) -> list[Tangent]:
        raise self._refusal()

    def _refusal(self) -> GraphError:
        return GraphError(f"'{self.name}' has no derivative", remedy="differentiate what it iterates on")

    def reference(self, args: Sequence[Any]) -> Any:
        """The same loop on arrays; what is done keeps its state."""
        loop, arrays = self._iteration, list(np.broadcast_arrays(*args))
        state = [np.broadcast_to(x, arrays[0].shape) for x in evaluate_flat(loop.start, arrays)]
        done = np.zeros(arrays[0].shape, bool)
        for _ in range(loop.limit):
            *after, just = evaluate_flat(loop.step, [*state, *arrays])
            state = [np.where(done, old, new) for old, new in zip(state, after, strict=True)]
            done = done | (np.asarray(just) > 0.5)
            if done.all():
                break
        return evaluate_flat(loop.finish, [*state, done.astype(float)])
