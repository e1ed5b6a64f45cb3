"""CAGeM listings: what a listing says is what the mechanism is, and only our errors come out of a wrong one."""

import contextlib
import os
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.listings_by_hand import Rx, Ry, Rz, listed_poses, move, posed
from support.mutated_files import mutated
from torseur.describe import CentralInertia, Formula, Mechanism, Tensor
from torseur.describe.fields import names_in
from torseur.errors import ModelError, TorseurError
from torseur.formats.cagem import read_mu, read_mu_study

DATA = Path(__file__).resolve().parents[2] / "data" / "cagem"
PRINTED, REBUILT = "welder_cagem_printed_clean", "welder_cagem_spatial_rebuilt"
BOTH = [PRINTED, REBUILT]


def text_of(name: str) -> str:
    return (DATA / f"{name}.mu").read_text(encoding="utf-8")


def mechanism_of(name: str) -> Mechanism:
    return read_mu((DATA / f"{name}.mu").read_bytes(), name, f"{name}.mu")


# -- the welding arm ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", BOTH)
def test_the_welding_arm_has_seven_bodies_and_seven_coordinates(name):
    arm = mechanism_of(name)
    assert list(arm.bodies) == [f"body{k}" for k in range(7)]
    assert [x.name for x in arm.q] == [f"q{k}" for k in range(7)]
    assert [x.name for x in arm.v] == [f"dq{k}" for k in range(7)]
    assert all(body.parent == "world" and body.joint.kind == "fixed" for body in arm.bodies.values())


@pytest.mark.parametrize("name", BOTH)
def test_every_body_is_where_the_product_of_transforms_puts_it(name):
    arm = mechanism_of(name)
    q = list(np.random.default_rng(3).uniform(-1, 1, 7))
    expected = listed_poses(text_of(name), q)
    found = posed(arm, {f"q{k}": x for k, x in enumerate(q)}, {})
    assert len(expected) == 7
    for k, T in expected.items():
        np.testing.assert_allclose(found[f"body{k}"], T, atol=1e-14)


def test_the_printed_arm_does_not_use_its_last_coordinate_and_the_rebuilt_one_does():
    used = {name: set().union(*(names_in(body.place) for body in mechanism_of(name).bodies.values())) for name in BOTH}
    coordinates = {f"q{k}" for k in range(7)}
    assert coordinates - used[PRINTED] == {"q6"}
    assert coordinates <= used[REBUILT]


def test_inertias_are_central_and_in_the_axes_of_the_body():
    arm = mechanism_of(REBUILT)
    expected = CentralInertia(mass=86.67, tensor=Tensor(xx=1.8867, yy=2.6089, zz=1.0473))
    assert arm.bodies["body3"].inertia == expected


def test_constants_are_parameters_and_formulas_stay_formulas():
    arm = mechanism_of(PRINTED)
    assert arm.parameters["l1"].value == 0.8
    assert arm.parameters["mass1"].value == 129.195
    inertia = arm.bodies["body1"].inertia
    assert inertia.mass == Formula("mass1")
    assert inertia.tensor.xx == Formula("(b1^2 + c1^2)/12*mass1")
    known = {name: parameter.value for name, parameter in arm.parameters.items()}
    assert inertia.tensor.xx.value(known) == pytest.approx((0.15**2 + 0.8**2) / 12 * 129.195)
    assert arm.bodies["body5"].inertia.mass == 29.7  # nothing refers to it


def test_gravity_starts_units_and_title():
    printed, rebuilt = mechanism_of(PRINTED), mechanism_of(REBUILT)
    assert (printed.gravity, rebuilt.gravity) == ((0.0, -9.81, 0.0), (0.0, 0.0, -9.81))
    assert [x.start for x in rebuilt.q] == [0, 0, 0, 0, 0, 0.2, -0.2]
    assert [x.unit for x in rebuilt.q] == ["rad"] * 5 + ["m"] * 2
    assert [rebuilt.coordinates[f"q{k}"].unit for k in (4, 5)] == ["rad", "m"]
    assert printed.coordinates["q6"].unit is None
    assert printed.title == "Simulation du bras manipulateur"


def test_the_settings_of_a_run_come_beside():
    _, settings = read_mu_study(text_of(PRINTED), "arm")
    assert (settings["FinalTime"], settings["StepSave"], settings["StepMax"]) == (5.0, 0.01, 0.005)
    flags = {key: settings[key] for key in ("SIMPLIFY", "FORCES", "ANIM", "STATIC", "PLOT", "LATEX_FR", "LATEX_EN")}
    assert flags == {"SIMPLIFY": 1, "FORCES": 0, "ANIM": 1, "STATIC": 0, "PLOT": 1, "LATEX_FR": 1, "LATEX_EN": 1}
    assert not {"FinalTime", "FORCES"} & mechanism_of(PRINTED).parameters.keys()


# -- the language ------------------------------------------------------------------------------------------------------
HEAD = "nbrdof := 2: nbrbody := 2: mass[0] := 1: mass[1] := 2:\n"


def listing(body0: str = "Trotz(q[0])", body1: str = "T0G[0]*Tdisp(l,0,0)*Trotz(q[1])", rest: str = "l := 0.5:") -> str:
    return f"{HEAD}T0G[0] := {body0}:\nT0G[1] := {body1}:\n{rest}\n"


def found_at(text: str, *q: float) -> dict[str, np.ndarray]:
    return posed(read_mu(text, "m"), {f"q{k}": x for k, x in enumerate(q)}, {})


def test_relative_poses_hang_on_their_reference():
    relative = f"{HEAD}T0G[0] := Trotz(q[0]): TrefG[1] := Tdisp(l,0,0)*Trotz(q[1]): BodyRef[1] := 0: l := 0.5:"
    mechanism = read_mu(relative, "m")
    assert mechanism.bodies["body1"].parent == "body0"
    a, b = found_at(relative, 0.3, 0.4), found_at(listing(), 0.3, 0.4)
    np.testing.assert_allclose(a["body1"], Rz(0.3) @ move(0.5, 0, 0) @ Rz(0.4), atol=1e-15)
    np.testing.assert_allclose(a["body1"], b["body1"], atol=1e-15)


def test_a_pose_may_be_defined_once_and_used_in_others():
    text = listing("A*Troty(q[0])", "Tdisp(0,0,1)*(A*T0G[0])", "A := B*Trotx(a/2): B := Tdisp(1,a,0): a := 0.6:")
    found = found_at(text, 0.3)
    A = move(1, 0.6, 0) @ Rx(0.3)
    np.testing.assert_allclose(found["body0"], A @ Ry(0.3), atol=1e-15)
    np.testing.assert_allclose(found["body1"], move(0, 0, 1) @ A @ A @ Ry(0.3), atol=1e-15)
    assert read_mu(text, "m").parameters.keys() == {"a"}


def test_rotation_about_any_direction():
    x, y, z = np.array([1, 2, 2]) / 3
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R = np.eye(3) + np.sin(0.7) * K + (1 - np.cos(0.7)) * K @ K
    found = found_at(listing("Trotn(1/3,2/3,2/3,q[0])"), 0.7)
    np.testing.assert_allclose(found["body0"][:3, :3], R, atol=1e-15)


def test_quantities_that_follow_coordinates_are_written_out():
    text = listing("Tdisp(x,y,0)*Trotz(q[0])", rest="x := l*cos(q[0]): y := 2*l*sin(q[0]) - x: l := 0.5:")
    mechanism = read_mu(text, "m")
    assert mechanism.parameters.keys() == {"l"}
    np.testing.assert_allclose(
        found_at(text, 0.3)["body0"][:2, 3], [0.5 * np.cos(0.3), np.sin(0.3) - 0.5 * np.cos(0.3)]
    )
    assert mechanism.coordinates["q0"].unit == "rad"  # in a displacement, but inside a cosine


def test_products_of_inertia_are_integrals_in_the_listing_and_entries_of_the_tensor_here():
    mechanism = read_mu(
        listing(rest="l := 1: Ixx[1] := 3: Iyy[1] := 3: Izz[1] := 3: Ixy[1] := 0.5: Iyz[1] := -p: p := 1:"), "m"
    )
    tensor = mechanism.bodies["body1"].inertia.tensor
    assert (tensor.xy, tensor.xz, tensor.yz) == (-0.5, 0.0, Formula("p"))


def test_constants_functions_comments_and_ends_of_both_programs():
    rest = 'l := sqrt(PI^2)/2; // a comment: with := in it\n a := ln(2)*arctan(l):; /* b := 1: */ s := "a // b":'
    mechanism = read_mu(listing(rest=rest.replace('s := "a // b":', 'title := "a // b":')), "m")
    assert str(mechanism.parameters["l"].value) == "sqrt(pi^2)/2"
    assert str(mechanism.parameters["a"].value) == "log(2)*atan(l)"
    assert mechanism.title == "a // b"


def test_time_is_time_and_speeds_may_start():
    mechanism = read_mu(listing("Trotz(q[0] + w*t)", rest="l := 1: w := 3: qi[0] := l/2: qdi[1] := -2:"), "m")
    assert str(mechanism.bodies["body0"].place.steps[0].rz) == "q0 + w*t"
    assert [x.start for x in mechanism.q] == [Formula("l/2"), 0.0]
    assert [x.start for x in mechanism.v] == [0.0, -2.0]


def test_names_without_a_value_stay_symbols_and_names_that_are_taken_change():
    mechanism = read_mu(listing("Tdisp(h,q1,deg)*Trotz(q[0])", rest="l := 1: q1 := 2: deg := 3:"), "m")
    assert mechanism.parameters["h"].value is None
    assert any("'h' has no value" in note for note in mechanism.notes)
    steps = mechanism.bodies["body0"].place.steps
    assert [str(x) for x in (steps[0].tx, steps[1].ty, steps[2].tz)] == ["h", "q1_", "deg_"]


def test_what_is_absent_is_noted():
    notes = read_mu(listing(rest="l := 1: FORCES := 1:"), "m").notes
    assert any("Ixx[0]" in note for note in notes)
    assert any("no gravity" in note for note in notes)
    assert any("FORCES" in note for note in notes)


# -- faults ------------------------------------------------------------------------------------------------------------
def fault_of(text: str | bytes) -> str:
    with pytest.raises(ModelError) as caught:
        read_mu(text, "m", "m.mu")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a statement"),
        ("hello", "expected a statement"),
        (listing("Trotz(q[0]"), "T0G[0]"),
        (listing("Trotz(q[0])*2"), "not a product of transforms"),
        (listing("Trotz(q[0]) + Trotz(q[1])"), "not a product of transforms"),
        (listing("Trotw(q[0])"), "not a product of transforms"),
        (listing("Trotz(q[0],1)"), "Trotz with wrong arguments"),
        (listing("Tdisp(1,2)"), "Tdisp with wrong arguments"),
        (listing("Tdisp(1,,2)"), "Tdisp with wrong arguments"),
        (listing("Trotn(0,0,0,q[0])"), "a rotation without an axis"),
        (listing("Trotz(q[2])"), "q[0] to q[1]"),
        (listing("Trotz(q[k])"), "wrong index"),
        (listing("Trotz(p[0])"), "'p[0]' has no value"),
        (listing("Trotz(2 q[0])"), "unexpected"),
        (listing("Trotz(sine(q[0]))"), "no such function"),
        (listing("T0G[1]"), "not a product of transforms"),
        (listing("T0G[1]*Trotz(1)", "T0G[0]*Trotz(1)"), "uses itself"),
        (listing(rest="l := 1: l := 2:"), "given twice"),
        (listing(rest="l := 1: a := b: b := a:"), "uses itself"),
        (listing(rest="l := x: x := q[0] + x:"), "without end"),
        (listing(rest="l := 1: mass[2] := 1:"), "'mass[2]' is out of range"),
        (listing(rest="l := 1: qi[2] := 1:"), "'qi[2]' is out of range"),
        (listing(rest="l := 1: gravity[0] := 1:"), "'gravity[0]' is out of range"),
        (listing(rest="l := 1: Ixx[0] := q[0]:"), "depends on coordinates"),
        (listing(rest="l := 1: nbrdep := 1:"), "dependent parameters"),
        (listing(rest="l := 1: FinalTime := h:"), "'FinalTime' is not a number"),
        (listing(rest="l := 1"), "'l' has no end"),
        (listing(rest="l := :"), "'l' has no value"),
        (listing(rest="l := 1: extra"), "expected a statement"),
        (listing(rest="l := 1/0:"), "without a value"),
        (listing(rest="/* l := 1:"), "a comment is not closed"),
        (HEAD + "T0G[0] := Trotz(1):", "bodies without a pose"),
        (HEAD + "T0G[0] := Trotz(1): TrefG[1] := Trotz(1):", "'BodyRef[1]' is missing"),
        (HEAD + "T0G[0] := Trotz(1): TrefG[1] := Trotz(1): BodyRef[1] := 2:", "no such body"),
        (HEAD + "T0G[0] := Trotz(1): TrefG[1] := Trotz(1): BodyRef[1] := 1:", "uses itself"),
        (HEAD + "T0G[0] := Trotz(1): T0G[1] := Trotz(1): TrefG[1] := Trotz(1):", "has two poses"),
        (HEAD.replace("nbrdof := 2:", ""), "'nbrdof' is missing"),
        (HEAD.replace("nbrdof := 2:", "nbrdof := many:"), "'nbrdof' has a wrong value"),
    ],
)
def test_what_is_wrong_with_a_listing_is_told(text, words):
    message = fault_of(text)
    assert words in message
    assert "m.mu:" in message


def test_all_faults_are_told_at_once_with_line_and_column():
    message = fault_of(listing("Trotz(q[7])", "Tdisp(1,2)"))
    assert message.startswith("2 faults")
    assert "m.mu:2:17: T0G[0]" in message
    assert "m.mu:3:11: T0G[1]" in message


# -- only our errors ---------------------------------------------------------------------------------------------------
SEEDS = [*(text_of(name).encode() for name in BOTH), listing().encode()]
PIECES = [
    b":",
    b":=",
    b"q[0]",
    b"T0G[0]",
    b"Trotz(",
    b")",
    b"[",
    b"]",
    b"*",
    b"//",
    b"/*",
    b'"',
    b"\xe9",
    b"\x00",
    b"t",
    b"^",
]


def check_mutations(seed: int, count: int) -> int:
    """Read mutated listings; give how many were still mechanisms."""
    rng, good = random.Random(seed), 0
    for _ in range(count):
        try:
            assert isinstance(read_mu(mutated(rng, SEEDS, PIECES, b"0123456789qTlam"), "m"), Mechanism)
            good += 1
        except TorseurError:
            pass
    return good


def test_mutated_listings_give_a_mechanism_or_our_error():
    count = int(os.environ.get("TORSEUR_FUZZ", "300"))
    assert 0.01 * count < check_mutations(seed=count, count=count) < 0.9 * count


words = st.sampled_from(
    ["q[0]", "a", "1.5", "Trotz(", "Tdisp(", ")", "(", ",", "*", "+", "^", "PI", "T0G[0]", "t", "sin(", "l"]
)


@given(st.lists(words, max_size=12), st.lists(words, max_size=8))
def test_any_words_give_a_mechanism_or_our_error(pose, constant):
    with contextlib.suppress(TorseurError):
        read_mu(listing(body1=" ".join(pose), rest=f"l := {' '.join(constant)}:"), "m")


N = 20_000
LARGE = {
    "parentheses": listing("(" * N + "Trotz(1)" + ")" * N),
    "arguments in parentheses": listing(f"Trotz({'(' * N}1{')' * N})"),
    "doubling": listing("Trotz(x40)", rest="x0 := q[0]:" + "".join(f"x{k + 1} := x{k} + x{k}:" for k in range(40))),
    "doubled poses": listing("P40", rest="P0 := Trotz(q[0]):" + "".join(f"P{k + 1} := P{k}*P{k}:" for k in range(40))),
    "a long chain": listing(rest="".join(f"a{k} := a{k + 1}:" for k in range(N // 2)) + f"a{N // 2} := a0:"),
    "a long file": " " * 1_000_000,
}


@pytest.mark.parametrize("case", LARGE)
def test_large_wrong_listings_are_refused_and_do_not_hang(case):
    assert len(fault_of(LARGE[case])) < 100_000
