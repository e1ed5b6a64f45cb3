"""Records: frozen, and able to be keys, however they came about."""

import torseur as ts
from torseur.describe import Mechanism

CART = {"joint": {"kind": "prismatic", "coordinate": "x"}, "inertia": {"M": 1.0}}


def test_a_copy_with_other_tables_can_still_be_a_key():
    plain = Mechanism(name="slide", bodies={"cart": CART}, parameters={"a": {"value": 1.0}})
    whole = Mechanism(name="slide", bodies={"cart": CART}, parameters={"b": {"value": 2.0}, "a": {"value": 1.0}})
    copied = plain.model_copy(update={"parameters": {"b": whole.parameters["b"], **plain.parameters}})
    assert {copied: "found"}[whole] == "found"


def test_the_mechanism_of_a_run_with_formulas_of_its_study_can_be_a_key():
    slide = Mechanism(name="slide", bodies={"cart": CART})
    run = ts.simulate(slide, until=0.1, outputs={"twice": {"value": "2*x"}})
    assert {run.mechanism: "found"}[run.mechanism] == "found"
