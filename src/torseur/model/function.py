"""One quantity of a model as a native function: its arguments by place or name, the rest from the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from torseur.describe.faults import nearest
from torseur.describe.plain_data import canonical
from torseur.dynamics.quantities import QUANTITIES, Options, function_of
from torseur.dynamics.tree.kinematics import Axes
from torseur.dynamics.tree.system import NORMALS
from torseur.dynamics.workbench import RANK
from torseur.emit.interface import ordered
from torseur.emit.native import NativeFunction
from torseur.errors import ArgumentError, MissingValue, NumericalError
from torseur.graph import Function, Role

if TYPE_CHECKING:
    from torseur.model.model import Model

__all__ = ["ModelFunction", "QuickByFrame", "array_of", "bad_choice", "check_names", "not_a_number"]

REDUCED = ("reduction", "reduced_mass_matrix", "reduced_bias", "reduced_forward_dynamics", "actuator_efforts", "kane")
SOLVING = ("forward_dynamics", "multipliers", "loop_wrenches", "forward_dynamics_derivatives")
"""Functions that solve for the normal forces that loads depend on."""

TOO_FAST = 1e9
"""Numbers of reduced forms beyond which it is asked whether the independent speeds are a good choice there."""


class ModelFunction:
    """One quantity of a model. Call it with arrays (..., n); the rest by keyword."""

    def __init__(self, model: Model, quantity: str, options: Options) -> None:
        self._model, self._quantity, self._options = model, quantity, options
        self._ready: Callable[..., Any] | None = None
        self._tail: tuple[Any, ...] = ()
        self.quick: Callable[..., Any] = self
        """The quickest form of this function there is; it is this one until the first call."""
        self.__name__ = quantity

    @property
    def is_prepared(self) -> bool:
        """Whether `quick` is what it will stay."""
        return self._ready is not None

    def __repr__(self) -> str:
        return f"<{self._quantity}({', '.join(QUANTITIES[self._quantity].of)}) of {self._model.mechanism.name}>"

    def __call__(
        self,
        *args: ArrayLike,
        t: ArrayLike | None = None,
        inputs: ArrayLike | Mapping[str, ArrayLike] | None = None,
        parameters: ArrayLike | Mapping[str, ArrayLike] | None = None,
        normals: ArrayLike | Mapping[str, ArrayLike] | None = None,
        out: Any = None,
        threads: int = 1,
        **named: ArrayLike,
    ) -> Any:
        """The quantity for one state or a batch. A single state without a result is an error; in a batch it is a nan.

        Args:
            args, named: q, v, ... of shape (..., n), in order or by name.
            t: time, s (0 by default).
            inputs: by name, or an array (..., number of inputs).
            parameters: by name (the others keep their values), or an array of all free ones.
            normals: normal forces by contact or rolling wheel, or an array of all, N: for functions of loads that read
                them and do not solve for them, such as the inverse dynamics.
            out: where to write.
            threads: how many share a batch.
        """
        if named or len(args) != len(QUANTITIES[self._quantity].of):
            args = self._in_order(args, named)
        if t is None and inputs is None and parameters is None and normals is None and not self._needs_normals:
            ready = self._ready or self._prepare()
            result = ready(*args, *self._tail, out=out, threads=threads)
        else:
            result = self._with(args, t, inputs, parameters, normals, out, threads)
        first = result[0] if isinstance(result, tuple) else result
        if self._takes_ranks and not np.isfinite(first).all():
            given = {"t": t, "inputs": inputs, "parameters": parameters, "normals": normals}
            self._on_other_branches(args, result, given)
        if self._is_single(first) and not np.isfinite(first).all():
            keywords = {"t": t, "inputs": inputs, "parameters": parameters}
            raise not_a_number(self._model, self._quantity, QUANTITIES[self._quantity].of, args, keywords)
        if self._quantity in REDUCED and self._is_single(first) and np.abs(first).max(initial=0.0) > TOO_FAST:
            if self._quantity == "reduction":
                raise bad_choice(self._model, np.asarray(first))
            others = self._model.function("reduction", independent=self._options.independent)
            others(args[0], t=t, inputs=inputs, parameters=parameters)  # which refuses a bad choice
        return result

    def _in_order(self, args: Sequence[Any], named: dict[str, Any]) -> tuple[Any, ...]:
        own = self.native.interface.inputs[: len(QUANTITIES[self._quantity].of)]
        return tuple(ordered(self._quantity, own, args, named))

    def _is_single(self, first: Any) -> bool:
        return np.ndim(first) == len(self.native.interface.outputs[0].shape)

    @cached_property
    def native(self) -> NativeFunction:
        """The compiled function, parameters unbound."""
        return self._compiled(None)

    def native_of(self, *, lanes: int | None) -> NativeFunction:
        """The function at the model's parameters, compiled for a number of lanes in batches."""
        native = self._compiled(lanes)
        return native.bind(*self._parameters(native, None)) if native.interface.parameters else native

    def _parameters(self, native: NativeFunction, given: Any, ranks: Any = None) -> list[Any]:
        """The values of its parameters, and the ranks of constraint rows that go with them if no others are given."""
        model = self._model
        p = _whole(given, model.free_parameters, self._values)
        if self._quantity in SOLVING and model.mechanism.normals_read:
            model.ranks.check_normals(p)
        names = [a.name for a in native.interface.parameters]
        if ranks is None and RANK in names:
            ranks = model.ranks(p)
        return [ranks if name == RANK else p for name in names]

    @cached_property
    def _takes_ranks(self) -> bool:
        return any(a.name == RANK for a in self.native.interface.inputs)

    def _on_other_branches(self, args: Sequence[Any], result: Any, keywords: dict[str, Any]) -> None:
        """States where the ranks that belong to the start are wrong: with those of their own branches, in place."""
        results = result if isinstance(result, tuple) else (result,)
        outs = self.native.interface.outputs
        batch = np.shape(results[0])[: np.ndim(results[0]) - len(outs[0].shape)]
        states = [np.broadcast_to(np.asarray(x, dtype=float), (*batch, np.shape(x)[-1])) for x in args]
        lost = ~np.isfinite(results[0]).reshape(*batch, -1).all(axis=-1)
        given = {name: value for name, value in keywords.items() if value is not None}
        for k in map(tuple, np.argwhere(lost)):
            values = [x[k] for x in states]
            at = {name: _row(value, batch, k) for name, value in given.items()}
            if not all(np.isfinite(x).all() for x in values):
                continue
            ranks = self._model.ranks.around(values[0], {n: x for n, x in at.items() if n != "normals"})
            other = self._with(
                values, at.get("t"), at.get("inputs"), at.get("parameters"), at.get("normals"), None, 1, ranks
            )
            for target, value in zip(results, other if isinstance(other, tuple) else (other,), strict=True):
                target[k] = value

    @cached_property
    def used_parameters(self) -> tuple[str, ...]:
        """The parameters without a formula that it depends on: no other needs a value."""
        names = self._model.free_parameters
        own = (a for a in self.native.interface.parameters if a.name != RANK)
        used = {names[k] for argument in own for k in argument.used}
        used |= set(self._model.row_parameters) if self._takes_ranks else set()
        return tuple(name for name in names if name in used)

    def has_values(self, parameters: ArrayLike | Mapping[str, ArrayLike] | None = None) -> bool:
        """Whether all parameters that it depends on have a value, or are given."""
        given: Iterable[str] = ()
        if parameters is not None:
            given = parameters if isinstance(parameters, Mapping) else self._model.free_parameters
        try:
            self._values(given)
        except MissingValue:
            return False
        return True

    def _values(self, given: Iterable[str]) -> NDArray[np.float64]:
        return self._model.values_beside(given, self.used_parameters)

    def _compiled(self, lanes: int | None) -> NativeFunction:
        outputs = self._model.mechanism.outputs if QUANTITIES[self._quantity].of_outputs else None
        store = self._model.store.part(canonical(self._options), canonical(outputs))
        return store.function(self._quantity, lambda: self.function, lanes=lanes)

    @property
    def function(self) -> Function:
        """The expressions behind it (derived anew)."""
        return function_of(self._model.checked_mechanism, self._quantity, self._options)

    def _prepare(self) -> Callable[..., Any]:
        """Bind the parameters; from now on the model's attribute is the quickest form of this function there is."""
        native, model = self.native, self._model
        roles = {a.role for a in native.interface.inputs}
        ready = self._ready = native.bind(*self._parameters(native, None)) if Role.PARAMETER in roles else native
        tail: list[Any] = []
        if Role.TIME in roles:
            tail.append(np.zeros(()))
        if Role.INPUT in roles:
            tail.append(model.input_values)
        self._tail = tuple(tail)
        quick = None
        if self._quantity not in REDUCED:  # whose single results are looked at
            whole = not self._takes_ranks  # else states of a batch without a result are looked at
            quick = ready.direct(self._quantity, repr(self), defaults=self._tail, fallback=self, batches=whole)
        if quick is not None:
            self.quick = quick
            if self._quantity in model.__dict__ and not QUANTITIES[self._quantity].needs_frame:
                model.__dict__[self._quantity] = quick
        return ready

    @cached_property
    def _needs_normals(self) -> bool:
        return any(a.name == NORMALS for a in self.native.interface.inputs)

    def _normals(self, given: Any) -> NDArray[np.float64]:
        """All normal forces; an error where they are needed and not given."""
        names = list(self._model.mechanism.pushing)
        check_names(given, names, "contact or rolling wheel")

        def missing(known: Iterable[str]) -> NDArray[np.float64]:
            read = self._model.mechanism.normals_read
            left = [n for n in names if n in read and n not in set(known)]
            if left:
                raise ArgumentError(
                    f"loads depend on normal forces, which {self._quantity} does not know",
                    where=self._model.mechanism.name,
                    got=", ".join(left),
                    remedy="give them, normals={...}, such as those that `multipliers` tells",
                )
            return np.zeros(len(names))

        return _whole(given, names, missing)

    def _with(
        self,
        args: Any,
        t: Any,
        inputs: Any,
        parameters: Any,
        normals: Any,
        out: Any,
        threads: int,
        ranks: Any = None,
    ) -> Any:
        native, model = self.native, self._model
        check_names(inputs, list(model.mechanism.inputs), "input")
        check_names(parameters, model.free_parameters, "parameter")
        values, known = list(args), iter(self._parameters(native, parameters, ranks))
        for argument in native.interface.inputs[len(args) :]:
            if argument.role is Role.TIME:
                values.append(np.asarray(0.0 if t is None else t, dtype=float))
            elif argument.name == NORMALS:
                values.append(self._normals(normals))
            elif argument.role is Role.INPUT:
                values.append(_whole(inputs, list(model.mechanism.inputs), lambda given: model.input_values))
            elif argument.role is Role.PARAMETER:
                values.append(next(known))
        return native(*values, out=out, threads=threads)


class QuickByFrame(dict[str | tuple[str, Axes | str], Callable[..., Any]]):
    """The quickest forms of a quantity of frames, by frame, or by frame and axes where these are not the frame's own.

    A form is kept here from its second use on: each call after that is one look-up.
    """

    def __init__(self, model: Model, quantity: str) -> None:
        super().__init__()
        self._model, self._quantity = model, quantity

    def __missing__(self, key: str | tuple[str, Axes | str]) -> Callable[..., Any]:
        frame, axes = key if isinstance(key, tuple) else (key, Axes.OWN)
        function = self._model.function(self._quantity, frame, axes)
        if function.is_prepared:
            self[key] = function.quick
        return function.quick


def _row(given: Any, batch: tuple[int, ...], k: tuple[int, ...]) -> Any:
    """What belongs to one state of a batch, of an array with or without the dimensions of the batch or of a table."""
    if isinstance(given, Mapping):
        return {name: np.broadcast_to(value, batch)[k] for name, value in given.items()}
    array = np.asarray(given, dtype=float)
    return array[k] if array.shape[: len(batch)] == batch and batch else array


def check_names(given: Any, known: list[str], what: str) -> None:
    """Unknown names are refused, with the ones that look like them."""
    unknown = [n for n in given if n not in known] if isinstance(given, Mapping) else []
    if unknown:
        hints = ", ".join(f"{n} (did you mean {near}?)" if (near := nearest(n, known)) else n for n in unknown)
        raise ArgumentError(f"no such {what}s", got=hints, expected=", ".join(known) or "none")


def array_of(value: Any, name: str) -> NDArray[np.float64]:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError("not a number", where=name, got=repr(value), expected="a number or an array") from None


def _whole(given: Any, names: list[str], others: Callable[[Iterable[str]], NDArray[np.float64]]) -> NDArray[np.float64]:
    """An array of all, from an array or from some of them by name; `others` knows those that are not given."""
    if given is None:
        return others(())
    if not isinstance(given, Mapping):
        return np.asarray(given, dtype=float)
    arrays = {n: array_of(x, n) for n, x in given.items()}
    whole = np.empty((*np.broadcast_shapes(*(x.shape for x in arrays.values())), len(names)))
    whole[...] = others(given)
    for n, x in arrays.items():
        whole[..., names.index(n)] = x
    return whole


# -- results that are no numbers ---------------------------------------------------------------------------------------
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
        "the independent speeds do not give the others at this position: a singular position for this choice",
        where=model.mechanism.name,
        got=f"{names} would be {np.abs(N).max():.1e} times as fast",
        remedy="choose one of these as independent, or go a little away",
    )


def _without_rank(model: Model, q: Any, keywords: dict[str, Any]) -> str:
    """What is possible where the rows of loops and constraints lose rank; nothing where they do not."""
    if not model.constraint_rows or not np.isfinite(model.function("constraint_jacobian")(q[None], **keywords)).all():
        return ""
    mobility = model.mobility(q, **keywords)
    return "; ".join(mobility.lines()) if mobility.is_singular else ""


def _singular(model: Model, q: Any, keywords: dict[str, Any]) -> str:
    """The speeds along which a motion without inertia goes."""
    M = np.asarray(model.function("mass_matrix")(q, **keywords))
    values, vectors = np.linalg.eigh(np.where(np.isfinite(M), M, 0.0))
    if values[0] > 1e-12 * max(float(values[-1]), 1e-300):
        return ""
    share = np.abs(vectors[:, 0])
    return ", ".join(x.name for x, s in zip(model.speeds, share, strict=True) if s > 0.1 * share.max())
