"""Random functions of the expression graph, as data first.

A `Recipe` is a straight-line program: blocks of inputs, steps that refer to earlier values by their place, and outputs.
`build` makes a `Function` of it (folded and interned while it is built), `build_raw` one in which nothing was folded,
and `plain` computes it with NumPy and nothing of ours. Emitter tests want `functions()` and `arguments()`; folding
tests want `recipes()` and all three readings.

>>> recipe = Recipe((("x", (), Role.STATE),), (Step("sin", (0,)),), (("y", (), (1,)),))
>>> build(recipe)
<Function f(x[]) -> y[]: 2 nodes>
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import torseur.graph as tg
from support.rounding import assert_agrees, assert_close, evaluate_with_bounds
from torseur.graph import Expr, Function, Graph, Interpolation, Outside, Role, Truth, ops

__all__ = [
    "KINDS",
    "Recipe",
    "Step",
    "arguments",
    "assert_agrees",
    "assert_close",
    "build",
    "build_raw",
    "evaluate_with_bounds",
    "functions",
    "plain",
    "recipes",
    "showcase",
]


@dataclass(frozen=True)
class Step:
    """One operation on earlier values; `data` is what is not a value (a constant, a table, a callee)."""

    kind: str
    args: tuple[int, ...] = ()
    data: Any = None


@dataclass(frozen=True)
class Recipe:
    blocks: tuple[tuple[str, tuple[int, ...], Role], ...]
    steps: tuple[Step, ...]
    outputs: tuple[tuple[str, tuple[int, ...], tuple[int, ...]], ...]
    names: dict[int, str] = field(default_factory=dict)

    @property
    def n_inputs(self) -> int:
        return sum(prod(shape) for _, shape, _ in self.blocks)


# -- the kinds of steps ------------------------------------------------------------------------------------------------
UNARY = {
    "neg": (operator.neg, np.negative),
    "sqrt": (tg.sqrt, np.sqrt),
    "exp": (tg.exp, np.exp),
    "log": (tg.log, np.log),
    "sin": (tg.sin, np.sin),
    "cos": (tg.cos, np.cos),
    "tan": (tg.tan, np.tan),
    "asin": (tg.asin, np.arcsin),
    "acos": (tg.acos, np.arccos),
    "atan": (tg.atan, np.arctan),
    "sinh": (tg.sinh, np.sinh),
    "cosh": (tg.cosh, np.cosh),
    "tanh": (tg.tanh, np.tanh),
    "asinh": (tg.asinh, np.arcsinh),
    "acosh": (tg.acosh, np.arccosh),
    "atanh": (tg.atanh, np.arctanh),
    "abs": (tg.absolute, np.abs),
    "sign": (tg.sign, np.sign),
    "floor": (tg.floor, np.floor),
}
BINARY = {
    "add": (operator.add, np.add),
    "sub": (operator.sub, np.subtract),
    "mul": (operator.mul, np.multiply),
    "div": (operator.truediv, np.divide),
    "pow": (operator.pow, np.power),
    "atan2": (tg.atan2, np.arctan2),
    "min": (tg.minimum, np.minimum),
    "max": (tg.maximum, np.maximum),
}
COMPARISONS = {
    "lt": (operator.lt, np.less),
    "le": (operator.le, np.less_equal),
    "gt": (operator.gt, np.greater),
    "ge": (operator.ge, np.greater_equal),
    "eq": (tg.equal, np.equal),
}
LOGIC = {
    "not": (operator.invert, np.logical_not),
    "and": (operator.and_, np.logical_and),
    "or": (operator.or_, np.logical_or),
}
OTHERS = ("select", "ipow", "table", "call", "solve", "minimum_norm", "root")
KINDS = (*UNARY, *BINARY, *COMPARISONS, *LOGIC, *OTHERS)
_PLAIN = {**UNARY, **BINARY, **COMPARISONS, **LOGIC, "select": (tg.select, np.where)}
_TRUTHFUL = {*COMPARISONS, *LOGIC}


def _kepler(x: Any, a: Any, m: Any) -> list[Any]:
    return [x[0] + 0.5 * m.sin(a[1]) * m.sin(x[0]) - a[0]]


def _cubic(x: Any, a: Any, m: Any) -> list[Any]:
    return [x[0] * x[0] * x[0] + x[0] - a[0]]


def _coupled(x: Any, a: Any, m: Any) -> list[Any]:
    return [x[0] + 0.25 * m.sin(x[1]) - m.sin(a[0]), x[1] + 0.25 * m.cos(x[0]) * m.sin(a[1]) - a[1]]


def _residual(
    law: Callable[..., list[Any]], n: int, n_args: int
) -> tuple[Function, int, int, Callable[..., list[Any]]]:
    g = Graph()
    x, a = g.block("x", n), g.block("a", n_args)
    return Function(law.__name__.strip("_"), [x, a], {"r": law(x, a, tg)}), n, n_args, law


RESIDUALS = {"kepler": _residual(_kepler, 1, 2), "cubic": _residual(_cubic, 1, 1), "coupled": _residual(_coupled, 2, 2)}
"""Problems with one root each: the Function, its sizes, and the law for any module that knows sin and cos."""


# -- three readings of a recipe ----------------------------------------------------------------------------------------
def build(recipe: Recipe, graph: Graph | None = None, name: str = "f") -> Function:
    """The recipe as a Function, its named values named."""
    return _written(recipe, Graph() if graph is None else graph, name, _built)


def build_raw(recipe: Recipe) -> Function:
    """The recipe as a Function of one node per elementary step, nothing folded."""
    return _written(recipe, Graph(), "f", _raw)


def _written(recipe: Recipe, g: Graph, name: str, write: Callable[[Graph, Step, list[Any]], list[Any]]) -> Function:
    blocks = [g.block(label, shape, role) for label, shape, role in recipe.blocks]
    values: list[Any] = [symbol for block in blocks for symbol in block]
    for step in recipe.steps:
        values += write(g, step, [values[k] for k in step.args])
    for k, label in recipe.names.items():
        g.name(values[k], label)
    outputs = {label: _shaped([values[k] for k in places], shape) for label, shape, places in recipe.outputs}
    return Function(name, blocks, outputs)


def _shaped(items: list[Any], shape: tuple[int, ...]) -> Any:
    if shape == ():
        return items[0]
    array = np.empty(len(items), object)
    array[:] = items
    return array.reshape(shape)


def _built(g: Graph, step: Step, args: list[Any]) -> list[Any]:
    if step.kind in _PLAIN:
        return [_PLAIN[step.kind][0](*args)]
    if step.kind == "const":
        return [g.number(step.data)]
    if step.kind == "ipow":
        return [args[0] ** step.data]
    if step.kind == "table":
        return [tg.table(args[0], *step.data)]
    if step.kind == "call":
        callee = _callee(step.data)
        sizes = np.cumsum([0, *(b.size for b in callee.inputs)])
        return tg.call(callee, *(args[i:j] for i, j in pairwise(sizes)))
    if step.kind == "solve":
        n = step.data
        return tg.solve([args[i * n : (i + 1) * n] for i in range(n)], args[n * n :])
    if step.kind == "minimum_norm":
        m, n = step.data
        x, rank = tg.minimum_norm_solve([args[i * n : (i + 1) * n] for i in range(m)], args[m * n :])
        return [*x, rank]
    residual, n, _, _ = RESIDUALS[step.data]
    return tg.root(residual, [0.1] * n, args)


_RAW = {op.name: op for op in ops.OPS}


def _raw(g: Graph, step: Step, args: list[Any]) -> list[Any]:
    if step.kind in ("gt", "ge"):
        return [g.node(Truth, _RAW["lt" if step.kind == "gt" else "le"], (args[1], args[0]))]
    if step.kind == "ipow":
        return [g.node(Expr, ops.POW, (args[0], g.number(step.data)))]
    if step.kind in _PLAIN:
        return [g.node(Truth if step.kind in _TRUTHFUL else Expr, _RAW[step.kind], tuple(args))]
    if step.kind == "table" and args[0].is_number:
        hidden = g.node(Expr, ops.ADD, (args[0], g.zero))
        return [tg.table(hidden, *step.data)]
    return _built(g, step, args)


_CALLEES: dict[int, tuple[Recipe, Function]] = {}


def _callee(recipe: Recipe) -> Function:
    """One Function per recipe, so that two calls of it call one function."""
    if len(_CALLEES) > 1000:
        _CALLEES.clear()
    return _CALLEES.setdefault(id(recipe), (recipe, build(recipe, name="inner")))[1]


def plain(recipe: Recipe, *args: Any) -> list[NDArray[np.float64]]:
    """The outputs of a recipe by NumPy alone, on arrays of shape (..., *block.shape)."""
    columns, batches = [], []
    for (_, shape, _), arg in zip(recipe.blocks, args, strict=True):
        array = np.asarray(arg, float)
        lead = array.shape[: array.ndim - len(shape)]
        batches.append(lead)
        columns += list(np.moveaxis(array.reshape((*lead, prod(shape))), -1, 0))
    batch = np.broadcast_shapes(*batches)
    with np.errstate(all="ignore"):
        values = _plain_values(recipe, [np.broadcast_to(c, batch) for c in columns])
    return [
        np.stack([np.broadcast_to(np.asarray(values[k], float), batch) for k in places], -1).reshape((*batch, *shape))
        for _, shape, places in recipe.outputs
    ]


def _plain_values(recipe: Recipe, columns: Sequence[Any]) -> list[Any]:
    values = list(columns)
    for step in recipe.steps:
        values += _computed(step, [values[k] for k in step.args])
    return values


def _computed(step: Step, args: list[Any]) -> list[Any]:
    if step.kind in _PLAIN:
        return [_PLAIN[step.kind][1](*args)]
    if step.kind == "const":
        return [np.float64(step.data)]
    if step.kind == "ipow":
        return [np.power(args[0], float(step.data))]
    if step.kind == "table":
        return [_tabulated(args[0], *step.data)]
    if step.kind == "call":
        values = _plain_values(step.data, args)
        return [np.asarray(values[k], float) for _, _, places in step.data.outputs for k in places]
    flat = np.stack(np.broadcast_arrays(*args), axis=-1)
    batch = flat.shape[:-1]
    if step.kind == "solve":
        n = step.data
        A, b = flat[..., : n * n].reshape(*batch, n, n), flat[..., n * n :]
        return list(np.moveaxis(np.linalg.solve(A, b[..., None])[..., 0], -1, 0))
    if step.kind == "minimum_norm":
        m, n = step.data
        A, b = flat[..., : m * n].reshape(*batch, m, n), flat[..., m * n :]
        x = (np.linalg.pinv(A, rcond=1e-10) @ b[..., None])[..., 0]
        s = np.linalg.svd(A, compute_uv=False)
        return [*np.moveaxis(x, -1, 0), (s > 1e-10 * s[..., :1]).sum(-1).astype(float)]
    return list(_plain_root(step.data, flat))


def _tabulated(x: Any, xs: Any, ys: Any, kind: Interpolation, outside: Outside) -> Any:
    from scipy.interpolate import PchipInterpolator

    if kind is Interpolation.LINEAR:
        slope = np.diff(ys) / np.diff(xs)
        inside, slopes = np.interp(x, xs, ys), (slope[0], slope[-1])
    else:
        curve = PchipInterpolator(xs, ys)
        inside, slopes = curve(np.clip(x, xs[0], xs[-1])), curve([xs[0], xs[-1]], 1)
        inside = np.where(np.asarray(x) >= xs[-1], ys[-1], inside)  # scipy leaves the rounding of the last cubic there
    if outside is Outside.HOLD:
        return inside
    beyond = np.minimum(x - xs[0], 0) * slopes[0] + np.maximum(x - xs[-1], 0) * slopes[1]
    return inside + np.where(beyond == 0, 0, beyond)


def _plain_root(problem: str, flat: NDArray[np.float64]) -> NDArray[np.float64]:
    """Plain Newton, its matrix by complex steps."""
    _, n, _, law = RESIDUALS[problem]
    a = list(np.moveaxis(flat, -1, 0))
    x, h = np.full((n, *flat.shape[:-1]), 0.1), 1e-30
    for _ in range(60):
        r = np.stack(law(x, a, np), axis=-1)
        moved = [x + 1j * h * np.eye(n)[j].reshape(n, *[1] * (flat.ndim - 1)) for j in range(n)]
        J = np.stack([np.stack(np.imag(law(z, a, np)), axis=-1) / h for z in moved], axis=-1)
        x = x - np.moveaxis(np.linalg.solve(J, r[..., None])[..., 0], -1, 0)
    return x


# -- strategies --------------------------------------------------------------------------------------------------------
_ROLES = {"p": Role.PARAMETER, "t": Role.TIME, "u": Role.INPUT, "q": Role.STATE, "v": Role.STATE}
_CONSTANTS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, 9.81]), st.floats(-3, 3).map(lambda x: round(x, 3))
)
_SHAPES = st.sampled_from([(), (1,), (2,), (3,), (2, 2), (1, 3), (2, 3)])


@st.composite
def _blocks(draw: Any, few: bool = False) -> tuple[tuple[str, tuple[int, ...], Role], ...]:
    names = ["q"] if few else list(_ROLES)
    more = draw(st.sampled_from([(), (2,), (2, 2)]))
    shapes = {"p": (3,), "t": (), "u": (2,), "q": (3,), "v": more}
    return tuple((name, shapes[name], _ROLES[name]) for name in names)


@st.composite
def _tables(draw: Any) -> tuple[Any, ...]:
    n = draw(st.integers(2, 5))
    gaps = draw(st.lists(st.floats(0.1, 1.5).map(lambda x: round(x, 2)), min_size=n, max_size=n))
    ys = draw(st.lists(st.floats(-2, 2).map(lambda x: round(x, 2)), min_size=n, max_size=n))
    xs = np.round(np.cumsum(gaps) - 2.0, 2).tolist()
    kind, outside = draw(st.sampled_from(list(Interpolation))), draw(st.sampled_from(list(Outside)))
    return xs, ys, kind, outside


class _Writer:
    """A recipe being written: the steps so far, and which values are numbers and which are conditions."""

    def __init__(self, draw: Any, blocks: Any, safe: bool) -> None:
        self.draw, self.safe = draw, safe
        self.steps: list[Step] = []
        self.count = sum(prod(shape) for _, shape, _ in blocks)
        self.numbers, self.truths = list(range(self.count)), []

    def add(self, kind: str, *args: int, data: Any = None, n_out: int = 1) -> int:
        """Append a step; the place of its first value."""
        first = self.count
        self.steps.append(Step(kind, args, data))
        self.count += n_out
        (self.truths if kind in _TRUTHFUL else self.numbers).extend(range(first, self.count))
        return first

    def const(self, value: float) -> int:
        place = self.add("const", data=value)
        self.numbers.pop()
        return place

    def any(self, n: int = 1) -> list[int]:
        """Numbers to work on; recent ones are likelier, so that expressions grow deep."""
        size = len(self.numbers)
        back = self.draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))
        if self.draw(st.booleans()):
            back[0] = min(back[0], 2)
        return [self.numbers[size - 1 - k] for k in back]

    def truth(self) -> int:
        if not self.truths or self.draw(st.booleans()):
            kind = self.draw(st.sampled_from(list(COMPARISONS)))
            return self.add(kind, *self.any(2))
        return self.draw(st.sampled_from(self.truths))

    # Arguments that a function can take whatever the inputs; each is made of ordinary steps.
    def bounded(self, x: int) -> int:
        return self.add("tanh", x) if self.safe else x

    def positive(self, x: int) -> int:
        return self.add("add", self.add("mul", x, x), self.const(0.25)) if self.safe else x

    def nonzero(self, x: int) -> int:
        if not self.safe:
            return x
        shifted = self.add("add", self.add("abs", x), self.const(0.5))
        return self.add("select", self.add("lt", x, self.const(0.0)), self.add("neg", shifted), shifted)

    def inside(self, x: int) -> int:
        return self.add("mul", self.const(0.9), self.add("sin", x)) if self.safe else x

    def step(self, kind: str) -> None:
        draw = self.draw
        if kind == "const":
            self.add("const", data=draw(_CONSTANTS))
        elif kind in ("exp", "sinh", "cosh", "tan"):
            self.add(kind, self.bounded(*self.any()))
        elif kind in ("asin", "acos", "atanh"):
            self.add(kind, self.inside(*self.any()))
        elif kind in ("sqrt", "log"):
            self.add(kind, self.positive(*self.any()))
        elif kind == "acosh":
            x = self.positive(*self.any())
            self.add(kind, self.add("add", x, self.const(1.0)) if self.safe else x)
        elif kind in UNARY:
            self.add(kind, *self.any())
        elif kind == "div":
            a, b = self.any(2)
            self.add(kind, a, self.nonzero(b))
        elif kind == "pow":
            a, b = self.any(2)
            fixed = self.safe and draw(st.booleans())
            exponent = self.const(draw(st.sampled_from([0.5, 1.5, -0.75, 2.25, 3.0]))) if fixed else self.bounded(b)
            self.add(kind, self.positive(self.bounded(a)), exponent)
        elif kind in BINARY or kind in COMPARISONS:
            self.add(kind, *self.any(2))
        elif kind == "not":
            self.add(kind, self.truth())
        elif kind in LOGIC:
            self.add(kind, self.truth(), self.truth())
        elif kind == "select":
            self.add(kind, self.truth(), *self.any(2))
        elif kind == "ipow":
            n = draw(st.integers(-4, 6))
            x = self.any()[0]
            self.add(kind, self.nonzero(self.bounded(x)) if n < 0 else self.bounded(x), data=n)
        elif kind == "table":
            self.add(kind, *self.any(), data=draw(_tables()))
        else:
            self.call(kind)

    def call(self, kind: str) -> None:
        draw = self.draw
        if kind == "call":
            inner = draw(recipes(max_steps=5, nested=False, safe=self.safe, few=True))
            n_out = sum(len(places) for _, _, places in inner.outputs)
            for _ in range(draw(st.integers(1, 2))):
                self.add(kind, *self.any(inner.n_inputs), data=inner, n_out=n_out)
        elif kind == "solve":
            n = draw(st.integers(1, 4))
            entries = self.matrix(n, n)
            for i in range(n if self.safe else 0):  # a dominant entry per row, at places that need exchanges
                j = (i + 1) % n
                entries[i * n + j] = self.add("add", entries[i * n + j], self.const(2.0 * n))
            self.add(kind, *entries, *self.any(n), data=n, n_out=n)
        elif kind == "minimum_norm":
            m, n = draw(st.integers(1, 3)), draw(st.integers(1, 3))
            entries = self.matrix(m, n)
            if m > 1 and draw(st.booleans()):  # a repeated row: one rank less
                entries[n : 2 * n] = entries[:n]
            self.add(kind, *entries, *self.any(m), data=(m, n), n_out=n + 1)
        else:
            problem = draw(st.sampled_from(list(RESIDUALS)))
            _, n, n_args, _ = RESIDUALS[problem]
            args = [self.bounded(x) for x in self.any(n_args)]
            self.add(kind, *args, data=problem, n_out=n)

    def matrix(self, m: int, n: int) -> list[int]:
        return [self.bounded(x) for x in self.any(m * n)]


@st.composite
def recipes(
    draw: Any,
    *,
    kinds: Sequence[str] = KINDS,
    must: Sequence[str] = (),
    safe: bool = True,
    max_steps: int = 14,
    nested: bool = True,
    constants: bool = True,
    few: bool = False,
) -> Recipe:
    """Straight-line programs.

    Args:
        kinds: the steps to choose from (see KINDS).
        must: steps that occur in any case.
        safe: keep every argument inside its function's domain, whatever the inputs.
        max_steps: how many steps are drawn, before the ones that make arguments safe.
        nested: allow calls, linear systems and roots.
        constants: draw constants too (what makes arguments safe needs its own in any case).
        few: one block of inputs instead of one or two of every role.
    """
    allowed = [k for k in kinds if nested or k not in ("call", "solve", "minimum_norm", "root")]
    blocks = draw(_blocks(few))
    writer = _Writer(draw, blocks, safe)
    drawn = ["const", *allowed] if constants else allowed
    chosen = draw(st.lists(st.sampled_from(drawn), min_size=1, max_size=max_steps))
    for kind in [*chosen, *must]:
        writer.step(kind)
    last = writer.count - 1
    outputs, names = [], {}
    for k in range(draw(st.integers(1, 3))):
        shape = draw(_SHAPES)
        size = prod(shape)
        back = draw(st.lists(st.integers(0, min(last, 12)), min_size=size, max_size=size))
        outputs.append((f"y{k}", shape, tuple(last - b for b in back)))
    named = draw(st.lists(st.sampled_from(writer.numbers), max_size=3, unique=True))
    names = {place: f"N{k}" for k, place in enumerate(named)}
    return Recipe(blocks, tuple(writer.steps), tuple(outputs), names)


def functions(**options: Any) -> st.SearchStrategy[Function]:
    """Random Functions; the options are those of `recipes`."""
    return recipes(**options).map(build)


SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-300, -1e-310, 1.0, -1.0, 0.5, np.pi, 1e16, 1e6)


@st.composite
def arguments(
    draw: Any,
    function: Function | Recipe,
    *,
    batch: tuple[int, ...] | None = None,
    special: bool = False,
    magnitude: float = 3.0,
    ties: bool = True,
) -> tuple[NDArray[np.float64], ...]:
    """One array per input block.

    Args:
        function: what they are for.
        batch: leading dimensions of every array; None draws one of (), (1,), (5,), (2, 3), and lets single blocks go
            without them, so that broadcasting is exercised.
        special: put zeros of both signs, infinities, not-a-numbers, huge and tiny values among the ordinary ones.
        magnitude: ordinary values lie in [-magnitude, magnitude].
        ties: some arrays hold round numbers only, which meet each other, breakpoints and integers.
    """
    if isinstance(function, Recipe):
        shapes = [shape for _, shape, _ in function.blocks]
    else:
        shapes = [b.shape for b in function.inputs]
    lead = draw(st.sampled_from([(), (1,), (5,), (2, 3)])) if batch is None else batch
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arrays = []
    for shape in shapes:
        own = () if batch is None and draw(st.booleans()) else lead
        array = rng.uniform(-magnitude, magnitude, (*own, *shape))
        if ties and draw(st.booleans()):
            array = np.round(array * 2) / 2
        if special:
            array = np.where(rng.random(array.shape) < 0.4, rng.choice(SPECIAL, array.shape), array)
        arrays.append(array)
    return tuple(arrays)


def showcase() -> Function:
    """One fixed function with every kind of step, every role and every shape of output."""
    steps = Step("mul", (0, 1)), Step("sin", (3,)), Step("add", (4, 2))
    inner = Recipe((("q", (3,), Role.STATE),), steps, (("y", (2,), (4, 5)),))
    blocks = tuple((name, {"t": (), "v": (2, 2)}.get(name, (3,)), role) for name, role in _ROLES.items())
    n = sum(prod(shape) for _, shape, _ in blocks)
    writer = _Writer(None, blocks, True)
    add, const = writer.add, writer.const
    for k, kind in enumerate(UNARY):
        x = k % n
        safe = {"sqrt": writer.positive, "log": writer.positive, "asin": writer.inside, "acos": writer.inside}
        safe |= {"atanh": writer.inside, "exp": writer.bounded, "sinh": writer.bounded, "cosh": writer.bounded}
        safe |= {"tan": writer.bounded, "acosh": lambda x: add("add", writer.positive(x), const(1.0))}
        add(kind, safe.get(kind, lambda x: x)(x))
    for k, kind in enumerate(BINARY):
        a, b = k % n, (k + 3) % n
        b = writer.nonzero(b) if kind == "div" else b
        add(kind, writer.positive(a) if kind == "pow" else a, b)
    for k, kind in enumerate(COMPARISONS):
        add("select", add(kind, k, k + 1), k + 2, k + 3)
    add("select", add("and", add("not", add("lt", 0, 1)), add("or", add("le", 2, 3), add("eq", 4, 4))), 5, 6)
    for power in (-3, 0, 2, 7):
        add("ipow", writer.nonzero(7), data=power)
    for kind in Interpolation:
        for outside in Outside:
            add("table", 8, data=([-1.0, 0.0, 0.5, 2.0], [0.0, 1.0, 3.0, -1.0], kind, outside))
    add("call", 0, 5, 9, data=inner, n_out=2)
    add("call", 1, 6, 8, data=inner, n_out=2)
    big = [add("add", k, const(8.0)) for k in (1, 4, 7)]
    add("solve", 0, big[0], 2, 3, 4, big[1], big[2], 6, 7, 8, 9, 10, data=3, n_out=3)
    add("minimum_norm", 0, 1, 2, 0, 1, 2, 3, 4, data=(2, 3), n_out=4)
    for problem, (_, n_root, n_args, _) in RESIDUALS.items():
        add("root", *range(n_args), data=problem, n_out=n_root)
    places = [k for k in writer.numbers if k >= n]
    rows = len(places) // 4
    outputs = (
        ("scalar", (), (places[0],)),
        ("vector", (len(places),), tuple(places)),
        ("matrix", (rows, 4), tuple(places[: 4 * rows])),
        ("constant", (), (const(2.5),)),
        ("input", (2,), (3, 4)),
    )
    names = {place: f"N{k}" for k, place in enumerate(places[::5])}
    return build(Recipe(blocks, tuple(writer.steps), outputs, names))
