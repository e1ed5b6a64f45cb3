"""Maakaroun 2011: the projection of table 3-8, and the grouped parameters of tables 3-4 and 3-7."""

import numpy as np
import pytest

import torseur as ts
from support.evaluated import assert_same
from support.example_files import FILES, Example
from support.vehicles import car
from torseur.describe.fields import names_in
from torseur.describe.formulas import Formula
from torseur.errors import ModelError
from torseur.packs.vehicles.description import OwnSuspension
from torseur.packs.vehicles.document import load_vehicle
from torseur.packs.vehicles.parameters import grouped_parameters, single_track


def numbers(vehicle):
    return {name: parameter.value for name, parameter in vehicle.parameters.items()}


def value(scalar, vehicle):
    return scalar.value(numbers(vehicle)) if isinstance(scalar, Formula) else scalar


def test_the_projection_of_the_car_has_the_parameters_of_the_two_wheeled_vehicle():
    """Table 3-8 with the numbers of annex C, which lists both."""
    made, wanted = single_track(load_vehicle(FILES["peugeot_406"])), load_vehicle(FILES["two_wheel_406"])
    assert names_in(made) <= set(made.parameters)
    for name in ("front", "rear"):
        mine, theirs = made.axles[name], wanted.axles[name]
        assert mine.track is None
        for part in ("wheel", "suspension"):
            for field in type(getattr(mine, part)).model_fields:
                a, b = getattr(getattr(mine, part), field), getattr(getattr(theirs, part), field)
                known = a if a is None or isinstance(a, (str, bool)) else value(a, made)
                assert known == (b if b is None or isinstance(b, (str, bool)) else value(b, wanted)), (
                    name,
                    part,
                    field,
                )
    assert made.chassis == load_vehicle(FILES["peugeot_406"]).chassis


def test_a_suspension_of_ones_own_cannot_be_projected():
    own = load_vehicle(FILES["peugeot_406"])
    axle = own.axles["rear"].model_copy(update={"suspension": OwnSuspension(file="arm.yaml")})
    with pytest.raises(ModelError, match="single track"):
        single_track(own.model_copy(update={"axles": {**own.axles, "rear": axle}}))


def rows(model):
    """Name -> the parameters of a body that are not zero, as text."""
    found = {}
    for name, body in grouped_parameters(model).bodies.items():
        if body.inertia is not None:
            ten = {key: getattr(body.inertia, key) for key in type(body.inertia).model_fields}
            found[name] = {key: str(x) for key, x in ten.items() if x != 0.0}
    return found


def test_grouped_parameters_of_two_wheels_are_those_of_table_3_4():
    assert rows(ts.load(FILES["two_wheel_406"])) == {
        "carrier_front": {"M": "M2 + M5"},
        "knuckle_front": {"XX": "XX5", "ZZ": "XX5"},
        "wheel_front": {"YY": "ZZ5"},
        "carrier_rear": {"XX": "XX9", "ZZ": "XX9", "M": "M7 + M9"},
        "wheel_rear": {"YY": "ZZ9"},
    }


def test_grouped_parameters_of_four_wheels_are_those_of_table_3_7(tmp_path):
    """With a fork of its own inertia: ZZ3R = ZZ3 + XX5."""
    parameters = {"M2": 1.32, "M5": 20.0, "XX5": 0.415, "ZZ5": 0.756, "ZZ3": 0.1}
    wheel = {"mass": "M5", "spin_inertia": "ZZ5", "tilt_inertia": "XX5"}
    axle = {"wheel": wheel, "suspension": {"strut": {"mass": "M2"}}}
    steering = {"kind": "torque", "inertia": "ZZ3"}
    found = rows(car(tmp_path, parameters=parameters, steering=steering, axles={"front": axle, "rear": axle}))
    for side in ("left", "right"):
        assert found[f"carrier_front_{side}"] == {"M": "M2 + M5"}
        assert found[f"knuckle_front_{side}"] == {"XX": "XX5", "ZZ": "ZZ3 + XX5"}
        assert found[f"wheel_front_{side}"] == {"YY": "ZZ5"}
        assert found[f"carrier_rear_{side}"] == {"XX": "XX5", "ZZ": "XX5", "M": "M2 + M5"}
        assert found[f"wheel_rear_{side}"] == {"YY": "ZZ5"}


@pytest.mark.parametrize("strut", [{}, {"toe": 0.01, "camber": 0.02}, {"caster": 0.1, "trail": 0.02, "offset": 0.05}])
def test_grouped_parameters_move_the_car_as_the_others_do(tmp_path, strut):
    """Also where frames of hubs differ, and less can be put together."""
    axle = {"suspension": {"strut": {"mass": 5.0, **strut}}, "wheel": {"mass": 21.0, "tilt_inertia": 0.4}}
    model = car(tmp_path, axles={"front": axle, "rear": axle})
    one, other = Example(model, loads=False), Example(grouped_parameters(model), loads=False)
    rng = np.random.default_rng(1)
    q, v, vdot = rng.uniform(-0.4, 0.4, (3, len(model.v)))
    assert_same(one("inverse_dynamics", q, v, vdot), other("inverse_dynamics", q, v, vdot))
