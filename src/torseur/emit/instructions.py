"""Each operation of the graph as LLVM instructions, on any number of lanes.

Every operation is rounded as it stands, a sum that is fused with a product once; nothing is re-ordered. Sines and
cosines are inline. Other functions are called: by lane from the C library, or in a vector form of ours
(`torseur.emit.vector_math`).

**Fused sums**, ``a b + c`` rounded once, in one instruction.

It is decided here and not left to LLVM, which looks at how often a product is used: a function with one more result
would round the others differently. A sum or difference with a product among its operands is fused, whoever else uses
the product; where both are products, the one that comes later in the order of `torseur.graph.structure`. So the value
of a node depends on what it is made of, not on what else is computed with it.

Not fused: squares (``x x - y y`` must be 0 where x is y, or its root would be nan; and most are used several times),
and products that are computed at an earlier stage, whose factors are not at hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torseur.emit.ir import Body, Lanes, Module
from torseur.emit.vector_math import vector_function
from torseur.graph import ops
from torseur.graph.function import Function, Stage
from torseur.graph.functions import Piecewise
from torseur.graph.nodes import Node
from torseur.graph.ops import Op
from torseur.graph.structure import structural_order

__all__ = ["Fused", "Instructions", "fused_sums", "sincos"]


@dataclass(frozen=True)
class Fused:
    """a b + c, with a minus before the product, before c, or before neither."""

    operands: tuple[Node, Node, Node]
    minus_product: bool = False
    minus_rest: bool = False


def fused_sums(function: Function, *, staged: bool) -> dict[int, Fused]:
    """Node id -> how it is fused, of the sums that are.

    Args:
        staged: whether the work of each stage is done apart.
    """
    stage = dict(zip((n.id for n in function.nodes), function.stages, strict=True)) if staged else {}
    sums = {n: _products(n, stage) for n in function.nodes if n.op is ops.ADD or n.op is ops.SUB}
    order = structural_order(function.nodes) if any(len(products) == 2 for products in sums.values()) else {}
    found = {}
    for node, products in sums.items():
        places = [order.get(node.args[k].id, 0) for k in products]
        if len(set(places)) == len(places) > 0:
            found[node.id] = _fused(node, products[places.index(max(places))])
    return found


def _products(node: Node, stage: Mapping[int, Stage]) -> Sequence[int]:
    """Which operands of a sum are products that it can be fused with."""
    return [k for k, a in enumerate(node.args) if _is_fit(a) and stage.get(a.id) is stage.get(node.id)]


def _is_fit(node: Node) -> bool:
    return node.op is ops.MUL and node.args[0] is not node.args[1]


def _fused(node: Node, which: int) -> Fused:
    product, rest = node.args[which], node.args[1 - which]
    minus = node.op is ops.SUB
    return Fused((*product.args, rest), minus and which == 1, minus and which == 0)


_ARITHMETIC = {ops.ADD: "fadd", ops.SUB: "fsub", ops.MUL: "fmul"}
_COMPARISON = {ops.LT: "olt", ops.LE: "ole", ops.EQ: "oeq"}
_LOGIC = {ops.AND: "and", ops.OR: "or"}
_INTRINSIC = {ops.SQRT: "sqrt", ops.ABS: "fabs", ops.FLOOR: "floor", ops.MIN: "minimum", ops.MAX: "maximum"}
_LIBRARY = {
    op: op.name
    for op in (
        ops.EXP,
        ops.LOG,
        ops.POW,
        ops.ASIN,
        ops.ACOS,
        ops.ATAN,
        ops.ATAN2,
        ops.SINH,
        ops.COSH,
        ops.TANH,
        ops.ASINH,
        ops.ACOSH,
        ops.ATANH,
    )
}


class Instructions:
    """Writes one node at a time into a body."""

    def __init__(self, module: Module, body: Body) -> None:
        self.module, self.body, self.lanes = module, body, module.lanes

    def write(self, node: Node, args: list[str]) -> str:
        """Append what computes a node from its operands; gives the name of the result."""
        op, body, real, truth = node.op, self.body, self.lanes.real, self.lanes.truth
        if op in _ARITHMETIC:
            return body.value(f"{_ARITHMETIC[op]} {real} {args[0]}, {args[1]}")
        if op is ops.NEG:
            return body.value(f"fneg {real} {args[0]}")
        if op is ops.DIV:
            return body.value(f"fdiv {real} {args[0]}, {args[1]}")
        if op in _COMPARISON:
            return body.value(f"fcmp {_COMPARISON[op]} {real} {args[0]}, {args[1]}")
        if op is ops.SELECT:
            return body.value(f"select {truth} {args[0]}, {real} {args[1]}, {real} {args[2]}")
        if op in _LOGIC:
            return body.value(f"{_LOGIC[op]} {truth} {args[0]}, {args[1]}")
        if op is ops.NOT:
            return body.value(f"xor {truth} {args[0]}, {self.lanes.flag(True)}")
        if op in _INTRINSIC:
            return self.intrinsic(_INTRINSIC[op], *args)
        if op is ops.SIGN:
            return self._sign(args[0])
        if op is ops.PIECEWISE:
            return self._apply(_table(self.module, node.data), args)
        return self._apply(vector_function(self.module, op) or _by_lane(self.module, op), args)

    def multiply_add(self, a: str, b: str, c: str, minus_product: bool = False, minus_rest: bool = False) -> str:
        """a b + c, rounded once where the processor can."""
        real, body = self.lanes.real, self.body
        a = body.value(f"fneg {real} {a}") if minus_product else a
        c = body.value(f"fneg {real} {c}") if minus_rest else c
        return self.intrinsic("fmuladd", a, b, c)

    def intrinsic(self, name: str, *args: str) -> str:
        real = self.lanes.real
        full = self.module.declare(real, f"llvm.{name}.{self.lanes.suffix}", [real] * len(args))
        return self._apply(full, list(args))

    def _apply(self, function: str, args: list[str]) -> str:
        given = ", ".join(f"{self.lanes.real} {a}" for a in args)
        return self.body.value(f"call {self.lanes.real} @{function}({given})")

    def _sign(self, x: str) -> str:
        """-1 or 1; zero and nan are their own sign."""
        body, real, truth, number = self.body, self.lanes.real, self.lanes.truth, self.lanes.number
        above = body.value(f"fcmp ogt {real} {x}, {number(0.0)}")
        below = body.value(f"fcmp olt {real} {x}, {number(0.0)}")
        lower = body.value(f"select {truth} {below}, {real} {number(-1.0)}, {real} {x}")
        return body.value(f"select {truth} {above}, {real} {number(1.0)}, {real} {lower}")


# -- helpers, each written once per module -----------------------------------------------------------------------------
def _by_lane(module: Module, op: Op) -> str:
    """A function of the C library applied lane by lane."""
    scalar = module.declare("double", _LIBRARY[op], ["double"] * op.arity)
    return scalar if module.lanes.width == 1 else _spread(module, scalar, op.arity)


def _spread(module: Module, scalar: str, arity: int) -> str:
    """A scalar function made to work on lanes."""
    name = f"{scalar}.{module.lanes.tag}"
    if name not in module.helpers:
        module.helpers[name] = name
        real, body = module.lanes.real, Body()
        result = "poison"
        for lane in range(module.lanes.width):
            parts = [body.value(f"extractelement {real} %x{k}, i64 {lane}") for k in range(arity)]
            y = body.value(f"call double @{scalar}({', '.join(f'double {p}' for p in parts)})")
            result = body.value(f"insertelement {real} {result}, double {y}, i64 {lane}")
        body.do(f"ret {real} {result}")
        module.define(f"{real} @{name}({', '.join(f'{real} %x{k}' for k in range(arity))})", body, "noinline")
    return name


def _table(module: Module, curve: Piecewise) -> str:
    """A function that evaluates a piecewise polynomial: branch-free binary search, then Horner."""
    name = module.helpers.get(curve)
    if name is None:
        name = module.helpers[curve] = module.fresh("table")
        size = 1 << len(curve.breaks).bit_length()
        breaks = module.constants([*curve.breaks, *[float("inf")] * (size - len(curve.breaks))])
        rows = list(zip(curve.origins, curve.coefficients, strict=True))
        rows += [rows[-1]] * (size - len(rows))  # x = inf runs to the very end
        data = module.constants([number for origin, row in rows for number in (origin, *row)])
        module.define(f"double @{name}(double %x)", _table_body(module, breaks, data, size, curve.degree), "noinline")
    return name if module.lanes.width == 1 else _spread(module, name, 1)


def _table_body(module: Module, breaks: str, data: str, size: int, degree: int) -> Body:
    fma = module.declare("double", "llvm.fmuladd.f64", ["double"] * 3)
    body, place, half, zero = Body(), "0", size // 2, Lanes(1).number(0.0)
    while half:
        probe = body.value(f"add i64 {place}, {half}")
        address = body.value(f"getelementptr double, ptr @{breaks}, i64 {body.value(f'sub i64 {probe}, 1')}")
        beyond = body.value(f"fcmp oge double %x, {body.value(f'load double, ptr {address}')}")
        place = body.value(f"select i1 {beyond}, i64 {probe}, i64 {place}")
        half //= 2
    row = body.value(f"getelementptr double, ptr @{data}, i64 {body.value(f'mul i64 {place}, {degree + 2}')}")
    origin, *numbers = (
        body.value(f"load double, ptr {body.value(f'getelementptr double, ptr {row}, i64 {k}')}")
        for k in range(degree + 2)
    )
    u = body.value(f"fsub double %x, {origin}")
    # A flat end answers its value for infinity too: 0 times infinity is not wanted there.
    size_u = body.value(f"fcmp oeq double {body.value(f'fmul double {u}, {zero}')}, {zero}")
    ordered = body.value(f"fcmp ord double {u}, {u}")
    infinite = body.value(f"and i1 {ordered}, {body.value(f'xor i1 {size_u}, true')}")
    flat = body.value(f"fcmp oeq double {numbers[1] if degree else zero}, {zero}")
    held = body.value(f"and i1 {infinite}, {flat}")
    u = body.value(f"select i1 {held}, double {zero}, double {u}")
    value = body.value(f"fadd double {numbers[-1]}, {body.value(f'fmul double {u}, {zero}')}")
    for c in reversed(numbers[:-1]):
        value = body.value(f"call double @{fma}(double {value}, double {u}, double {c})")
    body.do(f"ret double {value}")
    return body


# -- sine and cosine ---------------------------------------------------------------------------------------------------
LARGEST_ANGLE = 1e6
"""Beyond this the quadrant has too many bits for the short reduction, and the C library takes over."""

# pi/2 in three parts of 33 bits and a rest (fdlibm, e_rem_pio2.c): products with a quadrant below 2^20 are exact.
_HALF_PI = (
    float.fromhex("0x1.921fb544p+0"),
    float.fromhex("0x1.0b4611a6p-34"),
    float.fromhex("0x1.3198a2ep-69"),
    float.fromhex("0x1.b839a252049c1p-104"),
)
_ROUND = 1.5 * 2.0**52  # adding it leaves the nearest integer in the last bits

# Minimax polynomials on [-pi/4, pi/4] (fdlibm, k_sin.c and k_cos.c).
_SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)


def sincos(module: Module, body: Body, targets: list[tuple[str, int]]) -> None:
    """Sine and cosine of some angles, each pair left in scratch memory from a given slot on.

    Reduction by pi/2 in four parts with the rounding kept, two polynomials, choice by quadrant: within 0.8 units in the
    last place. One test finds whether any angle of the group is too large for that, in which case those angles are done
    again by the C library.
    """
    lanes, real = module.lanes, module.lanes.real
    absolute = module.declare(real, f"llvm.fabs.{lanes.suffix}", [real])
    worst = None
    for (x, slot), (s, c) in zip(targets, _pairs_of_small(module, body, [x for x, _ in targets]), strict=True):
        body.store(lanes, s, "%scratch", slot)
        body.store(lanes, c, "%scratch", slot + 1)
        size = body.value(f"call {real} @{absolute}({real} {x})")
        large = body.value(f"fcmp ogt {real} {size}, {lanes.number(LARGEST_ANGLE)}")
        worst = large if worst is None else body.value(f"or {lanes.truth} {worst}, {large}")
    assert worst is not None
    none = module.all_lanes(body, body.value(f"xor {lanes.truth} {worst}, {lanes.flag(True)}"))
    rare, common = body.fresh("rare"), body.fresh("common")
    body.do(f"br i1 {none}, label %{common}, label %{rare}, !prof !0")
    body.label(rare)
    again = _sincos_of_large(module)
    for x, slot in targets:
        body.do(f"call void @{again}({real} {x}, ptr {body.at('%scratch', slot * lanes.size)})")
    body.do(f"br label %{common}")
    body.label(common)


def _pairs_of_small(module: Module, body: Body, angles: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Of one state, up to four angles at a time side by side in a register: the same operations, the same bits."""
    if module.lanes.width > 1:
        for x in angles:
            yield _sincos_of_small(module, module.lanes, body, x)
        return
    for start in range(0, len(angles), 4):
        some = angles[start : start + 4]
        lanes = Lanes({1: 1, 2: 2}.get(len(some), 4))
        if lanes.width == 1:
            yield _sincos_of_small(module, lanes, body, some[0])
            continue
        together = "poison"
        for k in range(lanes.width):
            x = some[min(k, len(some) - 1)]
            together = body.value(f"insertelement {lanes.real} {together}, double {x}, i64 {k}")
        pair = _sincos_of_small(module, lanes, body, together)
        for k in range(len(some)):
            s, c = (body.value(f"extractelement {lanes.real} {part}, i64 {k}") for part in pair)
            yield s, c


def _sincos_of_small(module: Module, lanes: Lanes, body: Body, x: str) -> tuple[str, str]:
    real, integer = lanes.real, lanes.integer
    number, whole = lanes.number, lanes.whole
    fma = module.declare(real, f"llvm.fmuladd.{lanes.suffix}", [real] * 3)

    def muladd(a: str, b: str, c: str) -> str:
        return body.value(f"call {real} @{fma}({real} {a}, {real} {b}, {real} {c})")

    def polynomial(z: str, coefficients: tuple[float, ...]) -> str:
        p = number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            p = muladd(p, z, number(c))
        return p

    shifted = muladd(x, number(0.6366197723675814), number(_ROUND))
    k = body.value(f"fsub {real} {shifted}, {number(_ROUND)}")
    minus_k = body.value(f"fneg {real} {k}")
    # x - k pi/2 as r + rest: the first product and difference are exact, what the second rounds off is kept.
    exact = muladd(minus_k, number(_HALF_PI[0]), x)
    head = muladd(minus_k, number(_HALF_PI[1]), exact)
    tail = muladd(minus_k, number(_HALF_PI[1]), body.value(f"fsub {real} {exact}, {head}"))
    tail = muladd(minus_k, number(_HALF_PI[2]), tail)
    r = body.value(f"fadd {real} {head}, {tail}")
    rest = body.value(f"fadd {real} {body.value(f'fsub {real} {head}, {r}')}, {tail}")
    rest = muladd(minus_k, number(_HALF_PI[3]), rest)
    z = body.value(f"fmul {real} {r}, {r}")
    half = body.value(f"fmul {real} {z}, {number(0.5)}")
    w = body.value(f"fsub {real} {number(1.0)}, {half}")
    # sin(r + rest) = r + (r^3 S + rest cos r);  cos(r + rest) = 1 - r^2/2 + (r^4 C - r rest)
    cube = body.value(f"fmul {real} {r}, {z}")
    s_tail = muladd(rest, w, body.value(f"fmul {real} {cube}, {polynomial(z, _SINE)}"))
    s = body.value(f"fadd {real} {r}, {s_tail}")
    lost = body.value(f"fsub {real} {body.value(f'fsub {real} {number(1.0)}, {w}')}, {half}")
    lost = muladd(body.value(f"fneg {real} {r}"), rest, lost)
    c_tail = muladd(body.value(f"fmul {real} {z}, {z}"), polynomial(z, _COSINE), lost)
    c = body.value(f"fadd {real} {w}, {c_tail}")

    quadrant = body.value(f"bitcast {real} {shifted} to {integer}")
    odd = body.value(f"trunc {integer} {quadrant} to {lanes.truth}")
    pair = []
    for q, (even_value, odd_value) in (
        (quadrant, (s, c)),
        (body.value(f"add {integer} {quadrant}, {whole(1)}"), (c, s)),
    ):
        chosen = body.value(f"select {lanes.truth} {odd}, {real} {odd_value}, {real} {even_value}")
        bits = body.value(f"bitcast {real} {chosen} to {integer}")
        flip = body.value(f"shl {integer} {body.value(f'and {integer} {q}, {whole(2)}')}, {whole(62)}")
        pair.append(body.value(f"bitcast {integer} {body.value(f'xor {integer} {bits}, {flip}')} to {real}"))
    return pair[0], pair[1]


def _sincos_of_large(module: Module) -> str:
    """Put right, by the C library, the lanes whose angle is large; the others are left as they are."""
    name = f"sincos.large.{module.lanes.tag}"
    if name not in module.helpers:
        module.helpers[name] = name
        lanes, body, scalar = module.lanes, Body(), Lanes(1)
        functions = [module.declare("double", f, ["double"]) for f in ("sin", "cos")]
        absolute = module.declare("double", "llvm.fabs.f64", ["double"])
        for lane in range(lanes.width):
            x = "%x" if lanes.width == 1 else body.value(f"extractelement {lanes.real} %x, i64 {lane}")
            size = body.value(f"call double @{absolute}(double {x})")
            large = body.value(f"fcmp ogt double {size}, {scalar.number(LARGEST_ANGLE)}")
            with body.when(large):
                for k, function in enumerate(functions):
                    y = body.value(f"call double @{function}(double {x})")
                    body.do(f"store double {y}, ptr {body.at('%to', k * lanes.size + 8 * lane)}, align 8")
        body.do("ret void")
        module.define(f"void @{name}({lanes.real} %x, ptr %to)", body, "noinline cold")
    return name
