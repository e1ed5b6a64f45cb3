"""What a model is known by: its key in the cache, and what it says of itself."""

import json

import numpy as np

from support import processes
from support.evaluated import assert_same
from support.two_joint_arm import ARM, arm
from support.two_joint_arm import STATE as S
from torseur.describe import Formula, Motor, Transmission
from torseur.graph import Role
from torseur.model import build

MODEL = build(ARM)


# -- the cache ---------------------------------------------------------------------------------------------------------
def test_descriptions_that_differ_in_what_moves_them_have_different_keys():
    drives = [Motor(coordinate="q2", inertia=0.5), Transmission(coordinate="q2", inertia=0.5)]
    keys = {build(arm(loads={"drive": drive})).store for drive in drives}
    assert len(keys) == 2
    one, two = (build(arm(loads={"drive": drive})).mass_matrix(S.q) for drive in drives)
    assert_same(
        one - two, [[0.0, 0.0], [0.0, 0.0]] + 0.5 * (MODEL.pose(S.q, "upper")[2, 2] * np.array([[0, 1], [1, 0]]))
    )
    variants = [
        arm(gravity=(0.0, 0.0, -9.81)),
        arm(loads={}),
        arm(base={"kind": "planar"}),
        arm(parameters={**dict(ARM.parameters), "I1": {"value": "M1*L^2/12"}}),
    ]
    assert len({build(m).store for m in (ARM, *variants)}) == len(variants) + 1


def test_words_do_not_change_the_key():
    assert build(arm(title="An arm", notes=("read from nowhere",))).store == MODEL.store


WARM = """
    import json
    from torseur.describe import Mechanism
    import numpy as np
    from importlib import import_module

    from torseur.model import build

    b, derived = import_module("torseur.model.function"), []
    true = b.function_of
    b.function_of = lambda m, quantity, *rest: derived.append(quantity) or true(m, quantity, *rest)
    bodies = {"a": {"joint": "revolute", "inertia": {"ZZ": 1.0, "MX": 0.5, "M": 1.0}}}
    model = build(Mechanism.model_validate({"name": "one", "bodies": bodies, "gravity": (0.0, -9.81, 0.0)}))
    z = np.zeros(1)
    values = [f(z, z, z).tolist() for f in (model.inverse_dynamics, model.forward_dynamics)]
    many = np.zeros((9, 1))
    values += [model.inverse_dynamics(many, many, many).tolist(), model.mass_matrix(z).tolist()]
    values += [model.kinetic_energy(z, z)]
    print(json.dumps([derived, values]))
"""


def test_a_warm_start_derives_nothing(tmp_path):
    cold, values = json.loads(processes.run(WARM, TORSEUR_CACHE=str(tmp_path)))
    assert set(cold) == {"inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy"}
    warm, again = json.loads(processes.run(WARM, TORSEUR_CACHE=str(tmp_path)))
    assert warm == []
    assert again == values


# -- what a model says of itself ---------------------------------------------------------------------------------------
def test_a_model_names_its_coordinates_speeds_and_parameters():
    assert [(x.name, x.unit) for x in MODEL.coordinates] == [("q1", "rad"), ("q2", "rad")]
    assert [(x.name, x.unit) for x in MODEL.speeds] == [("dq1", "rad/s"), ("dq2", "rad/s")]
    assert (MODEL.nq, MODEL.nv) == (2, 2)
    assert {b.role for b in MODEL.function("inverse_dynamics").function.inputs} >= {
        Role.TIME,
        Role.INPUT,
        Role.PARAMETER,
    }
    assert isinstance(ARM.parameters["I1"].value, Formula)
