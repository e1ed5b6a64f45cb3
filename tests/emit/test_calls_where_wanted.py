"""A call that is made only where it is wanted leaves everything else as it is, in functions of many pieces too."""

import numpy as np
import pytest

from torseur.emit import compile, kernel
from torseur.graph import ConstrainedSystem, Function, Graph, evaluate


@pytest.mark.parametrize("wanted", [0.0, 1.0])
def test_values_that_a_gated_call_uses_are_the_same_behind_it(wanted, monkeypatch):
    """They are loaded inside the branch; behind it they are loaded again, and their places must not be taken yet."""
    monkeypatch.setattr(kernel, "CHUNK", 40)
    g = Graph()
    x, gate = g.block("x", 40), g.block(f"gate_{int(wanted)}", 1)
    a = [x[k] * x[39 - k // 2] for k in range(40)]  # the first piece
    M = [[a[i] if i == j else g.zero for j in range(3)] for i in range(3)]
    gated = ConstrainedSystem(M, [a[3:6]], g.one, [g.one], [g.one] * 3, gate[0]).solve(a[6:9], [a[9]])
    kept = [x[k] + x[k + 1] for k in range(12)]  # the second one: these need places
    again = [a[k] + a[k + 1] for k in range(10)]
    late = [k * k for k in kept] + [k * k * k for k in kept] + [k * x[0] for k in kept]  # the third one
    function = Function("pieces", [x, gate], {"y": [*gated, *again, *a[10:], *late]})
    values = np.random.default_rng(1).uniform(0.5, 1.5, 40)
    expected = evaluate(function, values, [wanted])[0]
    np.testing.assert_allclose(compile(function, lanes=1)(values, [wanted]), expected, rtol=1e-12, atol=1e-12)
