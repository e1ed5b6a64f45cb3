"""Why a result is not a number: what the state, the parameters or the inertia matrix have to do with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from torseur.errors import NumericalError

if TYPE_CHECKING:
    from torseur.model.build import Model

__all__ = ["bad_choice", "not_a_number"]


def not_a_number(
    model: Model, quantity: str, names: Sequence[str], args: Sequence[Any], keywords: Mapping[str, Any] | None = None
) -> NumericalError:
    """The error for one state whose result is not finite: the first cause that is found.

    Args:
        model: of the mechanism.
        quantity: what was asked for.
        names: of the arguments.
        args: the arguments.
        keywords: t, inputs, parameters.
    """
    labels = {"q": model.coordinates, "v": model.speeds, "vdot": model.speeds, "tau": model.speeds}
    for name, value in zip(names, args, strict=False):
        bad = np.flatnonzero(~np.isfinite(np.asarray(value, dtype=float)))
        if bad.size:
            which = ", ".join(f"{labels[name][k].name} = {np.asarray(value)[k]}" for k in bad)
            return NumericalError(
                f"{quantity} needs finite numbers", where=f"argument '{name}' of {model.mechanism.name}", got=which
            )
    given = dict(keywords or {})
    stuck = _without_rank(model, np.asarray(args[0], dtype=float), given) if names[:1] == ("q",) else ""
    if stuck:
        return NumericalError(
            f"{quantity} is not determined at a singular position",
            where=model.mechanism.name,
            got=stuck,
            remedy="go a little away from it",
        )
    if "forward_dynamics" in quantity:
        singular = _singular(model, np.asarray(args[0], dtype=float), given)
        if singular:
            return NumericalError(
                "the inertia matrix is singular: some motion moves no mass",
                where=model.mechanism.name,
                got=f"no inertia left for {singular}",
                remedy="give the bodies it moves an inertia, add a transmission inertia, or prescribe the coordinate",
            )
    return NumericalError(
        f"{quantity} is not a number at this state",
        where=model.mechanism.name,
        remedy="look for a square root of a negative number or a division by zero in the formulas of the model",
    )


def bad_choice(model: Model, N: Any) -> NumericalError:
    """The error for independent speeds that do not give the others at a position; N (nv, k) is their reduction."""
    fast = np.abs(N).max(axis=1) > 1e-6 * np.abs(N).max()
    names = ", ".join(x.name for x, is_fast in zip(model.speeds, fast, strict=True) if is_fast)
    return NumericalError(
        "the independent speeds do not give the others at this position: a dead point of the choice",
        where=model.mechanism.name,
        got=f"{names} would be {np.abs(N).max():.1e} times as fast",
        remedy="choose one of these as independent, or go a little away",
    )


def _without_rank(model: Model, q: Any, keywords: dict[str, Any]) -> str:
    """What is possible where the rows of loops and constraints lose rank; nothing where they do not."""
    if not model.constraint_rows or not np.isfinite(model.function("constraint_jacobian")(q[None], **keywords)).all():
        return ""
    found = model.mobility(q, **keywords)
    return "; ".join(found.lines()) if found.is_singular else ""


def _singular(model: Model, q: Any, keywords: dict[str, Any]) -> str:
    """The speeds along which a motion without inertia goes."""
    M = np.asarray(model.function("mass_matrix")(q, **keywords))
    values, vectors = np.linalg.eigh(np.where(np.isfinite(M), M, 0.0))
    if values[0] > 1e-12 * max(float(values[-1]), 1e-300):
        return ""
    share = np.abs(vectors[:, 0])
    return ", ".join(x.name for x, s in zip(model.speeds, share, strict=True) if s > 0.1 * share.max())
