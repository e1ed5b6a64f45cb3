"""The explicit methods: their coefficients and where they were published."""

from __future__ import annotations

from torseur.emit import RK4 as CLASSICAL
from torseur.emit import Tableau
from torseur.simulation.solvers import dop853
from torseur.simulation.solvers.control import PIControl
from torseur.simulation.solvers.explicit import RungeKutta

__all__ = ["DOP853", "DOPRI5", "RK4"]

RK4 = RungeKutta(CLASSICAL)
"""The classical method of Kutta (1901), order 4, with a given step; dense output of order 3 from both ends."""

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

DOP853 = RungeKutta(
    Tableau("Dormand-Prince 8(5,3)", dop853.A, dop853.B, dop853.C, 8),
    errors=(dop853.ERROR5, dop853.ERROR3),
    control=PIControl(order=8, smallest=1 / 3, largest=6.0),
    more_stages=dop853.MORE_STAGES,
    dense=dop853.DENSE,
)
"""Prince & Dormand (1981) as in the program dop853 of Hairer & Wanner; dense output of order 7 when asked for."""
