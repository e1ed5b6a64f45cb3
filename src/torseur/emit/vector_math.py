"""Elementary functions on lanes, without leaving the vector registers.

Written with a thin wrapper that makes a formula look like one. The polynomials are those of fdlibm (Sun Microsystems
1993: e_exp.c, e_log.c, s_atan.c, e_atan2.c) and of Cephes (Moshier: tanh.c); what those choose by branches is chosen
here by selects. Errors stay within two units in the last place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.emit.ir import Body, Module
from torseur.graph import ops
from torseur.graph.ops import Op

__all__ = ["vector_function"]


@dataclass(frozen=True)
class _Writer:
    module: Module
    body: Body

    def call(self, name: str, *args: _Value) -> _Value:
        real, lanes = self.module.lanes.real, self.module.lanes
        full = self.module.declare(real, f"llvm.{name}.{lanes.suffix}", [real] * len(args))
        return _Value(self, self.body.value(f"call {real} @{full}({', '.join(f'{real} {a.name}' for a in args)})"))

    def number(self, value: float) -> _Value:
        return _Value(self, self.module.lanes.number(value))

    def polynomial(self, x: _Value, coefficients: Sequence[float]) -> _Value:
        """Lowest power first."""
        total = self.number(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            total = total * x + c
        return total


@dataclass(frozen=True)
class _Value:
    """A vector of doubles in the code being written."""

    writer: _Writer
    name: str

    def _lift(self, other: _Value | float) -> _Value:
        return other if isinstance(other, _Value) else self.writer.number(other)

    def _do(self, instruction: str, a: _Value | float, b: _Value | float) -> _Value:
        real = self.writer.module.lanes.real
        text = f"{instruction} {real} {self._lift(a).name}, {self._lift(b).name}"
        return _Value(self.writer, self.writer.body.value(text))

    def __add__(self, other: _Value | float) -> _Value:
        return self._do("fadd contract", self, other)

    def __sub__(self, other: _Value | float) -> _Value:
        return self._do("fsub contract", self, other)

    def __rsub__(self, other: float) -> _Value:
        return self._do("fsub contract", other, self)

    def __mul__(self, other: _Value | float) -> _Value:
        return self._do("fmul contract", self, other)

    def __truediv__(self, other: _Value | float) -> _Value:
        return self._do("fdiv", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def test(self, relation: str, other: _Value | float) -> str:
        """A comparison; gives the name of the condition."""
        return self._do(f"fcmp {relation}", self, other).name

    def where(self, condition: str, other: _Value | float) -> _Value:
        """self where the condition holds, else other."""
        lanes = self.writer.module.lanes
        text = f"select {lanes.truth} {condition}, {lanes.real} {self.name}, {lanes.real} {self._lift(other).name}"
        return _Value(self.writer, self.writer.body.value(text))

    def bits(self) -> str:
        lanes = self.writer.module.lanes
        return self.writer.body.value(f"bitcast {lanes.real} {self.name} to {lanes.integer}")

    def from_bits(self, bits: str) -> _Value:
        lanes = self.writer.module.lanes
        return _Value(self.writer, self.writer.body.value(f"bitcast {lanes.integer} {bits} to {lanes.real}"))

    def integer(self, instruction: str, a: str, b: str) -> str:
        return self.writer.body.value(f"{instruction} {self.writer.module.lanes.integer} {a}, {b}")

    def whole(self, value: int) -> str:
        return self.writer.module.lanes.whole(value)


_ROUND = 1.5 * 2.0**52  # adding it leaves the nearest integer in the last bits
_LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)


def _power_of_two(k: _Value, bits: str) -> _Value:
    """2^k from the integer k, |k| < 1023."""
    biased = k.integer("add", bits, k.whole(1023))
    return k.from_bits(k.integer("shl", biased, k.whole(52)))


def _exp(x: _Value) -> _Value:
    """e^x = 2^k e^r, |r| <= ln2/2, with e^r by a rational approximation of the remainder."""
    w = x.writer
    x = w.call("minimum", w.call("maximum", x, w.number(-746.0)), w.number(710.0))
    shifted = x * (1.0 / math.log(2.0)) + _ROUND
    k = shifted - _ROUND
    high, low = x - k * _LN2[0], k * _LN2[1]
    r = high - low
    t = r * r
    c = r - t * w.polynomial(
        t,
        (
            1.66666666666666019037e-01,
            -2.77777777770155933842e-03,
            6.61375632143793436117e-05,
            -1.65339022054652515390e-06,
            4.13813679705723846039e-08,
        ),
    )
    y = 1.0 - ((low - r * c / (2.0 - c)) - high)
    whole = k.integer("sub", shifted.bits(), w.number(_ROUND).bits())
    half = k.integer("ashr", whole, k.whole(1))
    rest = k.integer("sub", whole, half)
    return y * _power_of_two(k, half) * _power_of_two(k, rest)


def _log(x: _Value) -> _Value:
    """x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); log(1 + f) by a series in f / (2 + f)."""
    w = x.writer
    tiny = x.test("olt", 2.2250738585072014e-308)
    scaled = (x * 2.0**54).where(tiny, x)
    bits = scaled.bits()
    # Moving the border of the mantissa to sqrt(1/2) makes the exponent come out right for both halves.
    moved = x.integer("add", bits, x.whole(0x3FF0000000000000 - 0x3FE6A09E667F3BCD))
    exponent = x.integer("sub", x.integer("lshr", moved, x.whole(52)), x.whole(1023))
    mantissa = x.integer("add", x.integer("and", moved, x.whole(0xFFFFFFFFFFFFF)), x.whole(0x3FE6A09E667F3BCD))
    f = x.from_bits(mantissa) - 1.0
    k = x.from_bits(x.integer("add", exponent, w.number(_ROUND).bits())) - _ROUND
    k = (k - 54.0).where(tiny, k)
    s = f / (2.0 + f)
    z = s * s
    R = z * w.polynomial(
        z,
        (
            6.666666666666735130e-01,
            3.999999999940941908e-01,
            2.857142874366239149e-01,
            2.222219843214978396e-01,
            1.818357216161805012e-01,
            1.531383769920937332e-01,
            1.479819860511658591e-01,
        ),
    )
    half = 0.5 * f * f
    y = k * _LN2[0] - ((half - (s * (half + R) + k * _LN2[1])) - f)
    y = x.where(x.test("oeq", math.inf), y)
    y = w.number(-math.inf).where(x.test("oeq", 0.0), y)
    return w.number(math.nan).where(x.test("olt", 0.0), y).where(x.test("ord", x), x)


_ATAN = (
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)
# (|x| from, numerator a x + b, denominator c x + d, arc tangent of the centre: high and low part)
_ATAN_RANGES = (
    (0.4375, (2.0, -1.0), (1.0, 2.0), 4.63647609000806093515e-01, 2.26987774529616870924e-17),
    (0.6875, (1.0, -1.0), (1.0, 1.0), 7.85398163397448278999e-01, 3.06161699786838301793e-17),
    (1.1875, (1.0, -1.5), (1.5, 1.0), 9.82793723247329054082e-01, 1.39033110312309984516e-17),
    (2.4375, (0.0, -1.0), (1.0, 0.0), 1.57079632679489655800e00, 6.12323399573676603587e-17),
)


def _atan(x: _Value) -> _Value:
    """atan x = atan c + atan((x - c) / (1 + c x)), with c chosen so that the rest is small."""
    w = x.writer
    size = w.call("fabs", x)
    top, bottom, high, low = size, w.number(1.0), w.number(0.0), w.number(0.0)
    for start, (a, b), (c, d), centre, tail in _ATAN_RANGES:
        here = size.test("oge", start)
        top = (size * a + b if a else w.number(b)).where(here, top)
        bottom = (size * c + d).where(here, bottom)
        high, low = w.number(centre).where(here, high), w.number(tail).where(here, low)
    r = top / bottom
    z = r * r
    s = z * w.polynomial(z, _ATAN)
    y = high - ((r * s - low) - r)
    return w.call("copysign", y, x)


def _atan2(y: _Value, x: _Value) -> _Value:
    """atan |y / x|, then the quadrant; zeros and infinities as IEEE 754 wants them."""
    w = x.writer
    up, along = w.call("fabs", y), w.call("fabs", x)
    ratio = up / along
    ratio = w.number(1.0).where(w.call("minimum", up, along).test("oeq", math.inf), ratio)
    ratio = w.number(0.0).where(up.test("oeq", 0.0), ratio)
    angle = _atan(ratio)
    left = w.call("copysign", w.number(1.0), x).test("olt", 0.0)
    angle = (math.pi - (angle - 1.2246467991473531772e-16)).where(left, angle)
    angle = w.call("copysign", angle, y)
    return angle.where(y.test("ord", x), y + x)


def _asin(x: _Value) -> _Value:
    return _atan2(x, x.writer.call("sqrt", (1.0 - x) * (x + 1.0)))


def _acos(x: _Value) -> _Value:
    return _atan2(x.writer.call("sqrt", (1.0 - x) * (x + 1.0)), x)


def _tanh(x: _Value) -> _Value:
    """A rational function near zero, 1 - 2 / (e^2x + 1) elsewhere."""
    w = x.writer
    size = w.call("fabs", x)
    far = 1.0 - w.number(2.0) / (_exp(size + size) + 1.0)
    z = x * x
    top = w.polynomial(z, (-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1))
    bottom = w.polynomial(z, (4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2, 1.0))
    near = size + size * z * (top / bottom)
    return w.call("copysign", near.where(size.test("olt", 0.625), far), x).where(x.test("ord", x), x)


_FORMS: dict[Op, Callable[..., _Value]] = {
    ops.EXP: _exp,
    ops.LOG: _log,
    ops.ATAN: _atan,
    ops.ATAN2: _atan2,
    ops.ASIN: _asin,
    ops.ACOS: _acos,
    ops.TANH: _tanh,
}


def vector_function(module: Module, op: Op) -> str | None:
    """The name of our own form of a function on this module's lanes; None if there is none."""
    form = _FORMS.get(op)
    if form is None or module.lanes.width == 1 or module.exact:
        return None
    name = f"{op.name}.{module.lanes.tag}"
    if name not in module.helpers:
        module.helpers[name] = name
        body = Body()
        writer = _Writer(module, body)
        result = form(*(_Value(writer, f"%x{k}") for k in range(op.arity)))
        real = module.lanes.real
        body.do(f"ret {real} {result.name}")
        module.define(f"{real} @{name}({', '.join(f'{real} %x{k}' for k in range(op.arity))})", body, "noinline")
    return name
