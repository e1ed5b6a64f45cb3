"""Random functions of the expression graph, drawn as recipes (`support.recipes`).

Emitter tests want `functions()` and `arguments()`; folding tests want `recipes()` and the three readings of a recipe.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.recipes import BINARY, COMPARISONS, KINDS, LOGIC, RESIDUALS, TRUTHFUL, UNARY, Recipe, Step, build
from torseur.graph import Function, Interpolation, Outside, Role

__all__ = ["arguments", "functions", "recipes", "showcase"]

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
        (self.truths if kind in TRUTHFUL else self.numbers).extend(range(first, self.count))
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
