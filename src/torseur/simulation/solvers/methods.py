"""The methods a study can name: one table, which packages extend; the solvers themselves know nothing of names. The
explicit ones are coefficients, with where they were published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from torseur.describe.faults import guess
from torseur.emit import RK4 as CLASSICAL
from torseur.emit import Tableau
from torseur.errors import ArgumentError
from torseur.extensions import Kinds
from torseur.simulation.solvers.control import PIControl
from torseur.simulation.solvers.explicit import RungeKutta
from torseur.simulation.solvers.rosenbrock import RODAS4
from torseur.simulation.solvers.second_order import EASYDYN, NEWMARK, generalised_alpha, hht, newmark
from torseur.simulation.solvers.stepper import Method

__all__ = ["DOP853", "DOPRI5", "METHODS", "RK4", "NamedMethod", "method_of"]

RK4 = RungeKutta(CLASSICAL)
"""The classical method of Kutta (1901), order 4, with a fixed step; dense output of order 3 from both ends."""

DOPRI5 = RungeKutta(
    Tableau(
        "Dormand-Prince 5(4)",
        (
            (),
            (1 / 5,),
            (3 / 40, 9 / 40),
            (44 / 45, -56 / 15, 32 / 9),
            (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
            (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        ),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
        (0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
        5,
    ),
    errors=((71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),),
    control=PIControl(order=5, beta=0.04),
    dense=(
        (
            -12715105075 / 11282082432,
            0.0,
            87487479700 / 32700410799,
            -10690763975 / 1880347072,
            701980252875 / 199316789632,
            -1453857185 / 822651844,
            69997945 / 29380423,
        ),
    ),
)
"""Dormand & Prince, J. Comp. Appl. Math. 6 (1980) 19-26, with the dense output of order 4 of Shampine (1986).

As printed in Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, table 5.2 and (6.12).
"""

_DOP853 = """
c      2:0.05260015195876773 3:0.0789002279381516 4:0.1183503419072274 5:0.2816496580927726 6:0.3333333333333333
       7:0.25 8:0.3076923076923077 9:0.6512820512820513 10:0.6 11:0.8571428571428571 12:1.0 13:1.0 14:0.1 15:0.2
       16:0.7777777777777778
a2     1:0.05260015195876773
a3     1:0.0197250569845379 2:0.0591751709536137
a4     1:0.02958758547680685 3:0.08876275643042054
a5     1:0.2413651341592667 3:-0.8845494793282861 4:0.924834003261792
a6     1:0.037037037037037035 4:0.17082860872947386 5:0.12546768756682242
a7     1:0.037109375 4:0.17025221101954405 5:0.06021653898045596 6:-0.017578125
a8     1:0.03709200011850479 4:0.17038392571223998 5:0.10726203044637328 6:-0.015319437748624402
       7:0.008273789163814023
a9     1:0.6241109587160757 4:-3.3608926294469414 5:-0.868219346841726 6:27.59209969944671 7:20.154067550477894
       8:-43.48988418106996
a10    1:0.47766253643826434 4:-2.4881146199716677 5:-0.590290826836843 6:21.230051448181193 7:15.279233632882423
       8:-33.28821096898486 9:-0.020331201708508627
a11    1:-0.9371424300859873 4:5.186372428844064 5:1.0914373489967295 6:-8.149787010746927 7:-18.52006565999696
       8:22.739487099350505 9:2.4936055526796523 10:-3.0467644718982196
a12    1:2.273310147516538 4:-10.53449546673725 5:-2.0008720582248625 6:-17.9589318631188 7:27.94888452941996
       8:-2.8589982771350235 9:-8.87285693353063 10:12.360567175794303 11:0.6433927460157636
b      1:0.054293734116568765 6:4.450312892752409 7:1.8915178993145003 8:-5.801203960010585 9:0.3111643669578199
       10:-0.1521609496625161 11:0.20136540080403034 12:0.04471061572777259
err5   1:0.01312004499419488 6:-1.2251564463762044 7:-0.4957589496572502 8:1.6643771824549864
       9:-0.35032884874997366 10:0.3341791187130175 11:0.08192320648511571 12:-0.022355307863886294
err3   1:-0.18980075407240762 6:4.450312892752409 7:1.8915178993145003 8:-5.801203960010585 9:-0.4226823213237919
       10:-0.1521609496625161 11:0.20136540080403034 12:0.02265179219836082
a14    1:0.056167502283047954 7:0.25350021021662483 8:-0.2462390374708025 9:-0.12419142326381637
       10:0.15329179827876568 11:0.00820105229563469 12:0.007567897660545699 13:-0.008298
a15    1:0.03183464816350214 6:0.028300909672366776 7:0.053541988307438566 8:-0.05492374857139099
       11:-0.00010834732869724932 12:0.0003825710908356584 13:-0.00034046500868740456 14:0.1413124436746325
a16    1:-0.42889630158379194 6:-4.697621415361164 7:7.683421196062599 8:4.06898981839711 9:0.3567271874552811
       13:-0.0013990241651590145 14:2.9475147891527724 15:-9.15095847217987
d1     1:-8.428938276109013 6:0.5667149535193777 7:-3.0689499459498917 8:2.38466765651207 9:2.117034582445028
       10:-0.871391583777973 11:2.2404374302607883 12:0.6315787787694688 13:-0.08899033645133331
       14:18.148505520854727 15:-9.194632392478356 16:-4.436036387594894
d2     1:10.427508642579134 6:242.28349177525817 7:165.20045171727028 8:-374.5467547226902 9:-22.113666853125306
       10:7.733432668472264 11:-30.674084731089398 12:-9.332130526430229 13:15.697238121770845
       14:-31.139403219565178 15:-9.35292435884448 16:35.81684148639408
d3     1:19.985053242002433 6:-387.0373087493518 7:-189.17813819516758 8:527.8081592054236 9:-11.57390253995963
       10:6.8812326946963 11:-1.0006050966910838 12:0.7777137798053443 13:-2.778205752353508 14:-60.19669523126412
       15:84.32040550667716 16:11.99229113618279
d4     1:-25.69393346270375 6:-154.18974869023643 7:-231.5293791760455 8:357.6391179106141 9:93.40532418362432
       10:-37.45832313645163 11:104.0996495089623 12:29.8402934266605 13:-43.53345659001114 14:96.32455395918828
       15:-39.17726167561544 16:-149.72683625798564
"""
"""The coefficients of DOP853 by stage, those that are not zero. Stages are numbered from 1, as printed; the rate at the
end of the step is 13, the stages of the dense output are 14 to 16, with the weights d1 to d4."""


def _table(text: str) -> dict[str, dict[int, float]]:
    """Rows by name, of weights by stage."""
    rows: dict[str, dict[int, float]] = {}
    name = ""
    for word in text.split():
        stage, mark, value = word.partition(":")
        if mark:
            rows[name][int(stage)] = float(value)
        else:
            name, rows[word] = word, {}
    return rows


def _weights(name: str, size: int) -> tuple[float, ...]:
    return tuple(_ROWS[name].get(k, 0.0) for k in range(1, size + 1))


_ROWS = _table(_DOP853)
_C = _weights("c", 16)

DOP853 = RungeKutta(
    Tableau(
        "Dormand-Prince 8(5,3)",
        ((), *(_weights(f"a{k}", k - 1) for k in range(2, 13))),
        _weights("b", 12),
        _C[:12],
        8,
    ),
    errors=(_weights("err5", 13), _weights("err3", 13)),
    control=PIControl(order=8, smallest=1 / 3, largest=6.0),
    more_stages=tuple((_C[k - 1], _weights(f"a{k}", k - 1)) for k in (14, 15, 16)),
    dense=tuple(_weights(f"d{k}", 16) for k in (1, 2, 3, 4)),
)
"""Prince & Dormand (1981), order 8 with estimates of order 5 and 3 and dense output of order 7 when asked for.

Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd ed., II.5 and II.6, and the program dop853 of
the same authors, which prints the coefficients to double precision.
"""


@dataclass(frozen=True)
class NamedMethod:
    """A method under the name studies use, what it is for, and whether it needs the second-order form, or uses it where
    there are neither constraints nor further states.
    """

    method: Method
    meaning: str
    is_implicit: bool = False
    make: Callable[..., Method] | None = None
    """Makes it with other numbers than the usual ones."""
    numbers: tuple[str, ...] = ()
    """Which."""
    by_mass: bool = False

    @property
    def audit(self) -> float:
        """The share of amounts exchanged that balances may be off by: a method of order 2 promises less."""
        return 1e-6 if self.method.order > 2 else 1e-3


_CORE = {
    "dop853": NamedMethod(DOP853, "Dormand and Prince, order 8, adaptive steps: smooth motion, tight tolerance"),
    "dopri5": NamedMethod(DOPRI5, "Dormand and Prince, order 5, adaptive steps: events, loose tolerance"),
    "rk4": NamedMethod(RK4, "Kutta's classical method, order 4, fixed step: the quickest, and the one for batches"),
    "rodas": NamedMethod(
        RODAS4, "Hairer and Wanner's RODAS 4(3), L-stable, adaptive steps: stiff models", by_mass=True
    ),
    "newmark": NamedMethod(
        NEWMARK, "Newmark, order 2, fixed step: keeps energy of linear vibrations", True, newmark, ("beta", "gamma")
    ),
    "easydyn": NamedMethod(
        EASYDYN,
        "Newmark with the step control of EasyDyn",
        True,
        partial(newmark, control=EASYDYN.control),
        ("beta", "gamma"),
    ),
    "hht": NamedMethod(
        hht(), "Hilber, Hughes and Taylor, order 2, fixed step: damps high frequencies", True, hht, ("alpha",)
    ),
    "generalised_alpha": NamedMethod(
        generalised_alpha(),
        "Chung and Hulbert, order 2, fixed step, loops at position level",
        True,
        generalised_alpha,
        ("rho",),
    ),
}

METHODS: Kinds[NamedMethod] = Kinds("methods", _CORE)
"""The methods of the core, and those of extensions."""


def method_of(name: str, numbers: Mapping[str, float] | None = None) -> NamedMethod:
    """A method by name, with numbers of its own where they are given."""
    if name not in METHODS:
        expected, remedy = guess(name, METHODS)
        raise ArgumentError(f"no method '{name}'", where=("solver", "method"), expected=expected, remedy=remedy)
    choice, given = METHODS[name], dict(numbers or {})
    strange = [number for number in given if number not in choice.numbers]
    if strange:
        expected = ", ".join(choice.numbers) or "none"
        raise ArgumentError(f"'{name}' has no {', '.join(strange)}", where=("solver", strange[0]), expected=expected)
    return replace(choice, method=choice.make(**given)) if given and choice.make is not None else choice
