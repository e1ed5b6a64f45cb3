"""Derivatives by parameters: lengths and inertias, against differences of the dynamics themselves."""

import numpy as np
import pytest

from torseur.describe import Mechanism
from torseur.errors import ArgumentError
from torseur.model import build


def arm():
    """A planar 2R with its lengths and inertias as parameters."""
    links = {}
    for k, parent in ((1, "base"), (2, "link1")):
        links[f"link{k}"] = {
            "parent": parent,
            "place": {"mdh": {"d": 0.0 if k == 1 else "l1"}},
            "joint": {"kind": "revolute", "coordinate": f"q{k}"},
            "inertia": {"M": f"m{k}", "MX": f"m{k}*c{k}", "ZZ": f"j{k}"},
        }
    values = {"l1": 0.7, "m1": 3.0, "m2": 2.0, "c1": 0.3, "c2": 0.4, "j1": 0.5, "j2": 0.6}
    return Mechanism(
        name="arm",
        gravity=(0.0, -9.81, 0.0),
        parameters={name: {"value": value} for name, value in values.items()},
        bodies=links,
    )


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics"])
def test_derivatives_by_parameters_are_the_slopes_of_the_dynamics(quantity):
    model = build(arm())
    state = [np.array(x) for x in ([0.3, -0.8], [1.1, 0.4], [0.2, -0.5])]
    p, step = model.parameter_values, 1e-6
    slopes = model.function(f"{quantity}_by_parameters")(*state)
    for k in range(len(p)):
        ahead, back = (p + s * step * (np.arange(len(p)) == k) for s in (1, -1))
        f = model.function(quantity)
        difference = (f(*state, parameters=ahead) - f(*state, parameters=back)) / (2 * step)
        np.testing.assert_allclose(slopes[:, k], difference, rtol=1e-7, atol=1e-7)


def test_a_model_of_numbers_has_no_parameter_to_differentiate_by():
    rod = {"joint": {"kind": "revolute", "coordinate": "q"}, "inertia": {"ZZ": 1.0}}
    model = build(Mechanism(name="rod", bodies={"rod": rod}))
    with pytest.raises(ArgumentError, match="no parameter"):
        model.function("inverse_dynamics_by_parameters")(np.zeros(1), np.zeros(1), np.zeros(1))
