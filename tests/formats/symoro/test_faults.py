"""SYMORO files with faults: each is told with its place, all of them at once, and nothing else ever comes out."""

import contextlib
import os
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.mutated_files import mutated
from torseur.describe import Mechanism
from torseur.errors import ModelError, TorseurError
from torseur.formats.symoro import read_par

DATA = Path(__file__).resolve().parents[2] / "data"
SEEDS = [path.read_bytes() for path in sorted([*DATA.glob("par/*.par"), *DATA.glob("symoro/*.par")])]

GOOD = {
    "NL": "2",
    "NJ": "2",
    "NF": "2",
    "Type": "0",
    "ant": "{0,1}",
    "sigma": "{0,1}",
    "b": "{0,0}",
    "d": "{0,a}",
    "r": "{0,r2}",
    "gamma": "{0,0}",
    "alpha": "{0,pi/2}",
    "mu": "{1,0}",
    "theta": "{t1,0}",
    "M": "{m1,m2}",
    "G": "{0,0,-9.81}",
}


def robot(**changes: str | None) -> str:
    entries = {**GOOD, **changes}
    return "\n".join(f"{key} = {value}" for key, value in entries.items() if value is not None)


def loop(**changes: str | None) -> str:
    """A four-bar: bodies 1, 2, 3; cut joint 4 on body 3; frame 5 on the base."""
    closed = {"NL": "3", "NJ": "4", "NF": "5", "Type": "2", "ant": "{0,1,2,3,0}", "sigma": "{0,0,0,0,2}"}
    closed |= dict.fromkeys(("b", "r", "gamma", "alpha"), "{0,0,0,0,0}")
    closed |= {"d": "{0,a,b,c,e}", "theta": "{t1,t2,t3,t4,0}", "mu": "{1,0,0,0,0}", "M": "{m1,m2,m3}"}
    return robot(**(closed | changes))


def fault_of(text: str | bytes) -> str:
    with pytest.raises(ModelError) as caught:
        read_par(text, "r", "r.par")
    return str(caught.value)


def notes_of(text: str) -> list[str]:
    return list(read_par(text, "r", "r.par").notes)


def test_the_good_files_are_good():
    assert len(read_par(robot(), "r").bodies) == 2
    assert len(read_par(loop(), "r").loops) == 1


# -- form --------------------------------------------------------------------------------------------------------------
def test_a_fault_is_told_with_line_column_and_entry():
    message = fault_of(robot(d="{0, a + }"))
    assert message.startswith("r.par:8:9: d[2]: ")
    assert "a +" in message


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"d": "{0,a"}, "not closed"),
        ({"d": "0,a"}, "not a vector"),
        ({"d": "{0,}"}, "empty"),
        ({"d": "{0,a} x"}, "something after"),
        ({"Thta": "{0,0}"}, "did you mean theta?"),
        ({"D": "{0,0}"}, "given twice"),
        ({"d": ""}, "has no value"),
        ({"d": "{0,a b}"}, "unexpected"),
        ({"d": "{0,sinus(a)}"}, "no such function"),
        ({"d": "{0,1e999}"}, "too large"),
        ({"d": "{0,1/0}"}, "without a value"),
        ({"d": "{0,a§}"}, "a character that means nothing here"),
        ({"d": "{0,(a}"}, "is incomplete"),
        ({"NL": "two"}, "'NL' has a wrong value"),
        ({"Type": "7"}, "0 to 2"),
        ({"is_floating": "maybe"}, "0, 1, True or False"),
        ({"(* G": "1"}, "a comment is not closed"),
        ({"ant": "{0,x}"}, "an integer from 0 to 2"),
        ({"sigma": "{0,3}"}, "an integer from 0 to 2"),
        ({"mu": "{2,0}"}, "an integer from 0 to 1"),
    ],
)
def test_what_is_wrong_with_the_form_is_told(changes, words):
    message = fault_of(robot(**changes))
    assert words in message
    assert "r.par:" in message


def test_all_faults_are_told_at_once_in_the_order_of_the_file():
    message = fault_of(robot(b="{0,+}", d="{0,2*}", M="{m1,t1}"))
    places = [message.index(f"{key}[2]") for key in ("b", "d", "M")]
    assert places == sorted(places)
    assert message.startswith("3 faults")


def test_missing_vectors_are_named():
    message = fault_of(robot(ant=None, theta=None))
    assert "'ant' is missing" in message
    assert "'theta' is missing" in message
    assert "'ant' is missing" in fault_of("")


# -- tree and coordinates ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("theta", ["2*t1", "-t1", "a - t1", "sin(t1)", "t1*a", "t1 + t1", "t1 + 2*t1", "-(t1 + a)"])
def test_a_coordinate_must_stand_alone(theta):
    message = fault_of(robot(theta=f"{{{theta},0}}"))
    assert "theta[1]" in message
    assert "does not stand alone" in message


@pytest.mark.parametrize(
    ("theta", "offset"),
    [("a + t1", "a"), ("(t1 + a) - 2", "a - 2"), ("((t1))", "0.0"), ("a - (b + 1) + t1", "a - (b + 1)")],
)
def test_what_is_left_is_the_offset(theta, offset):
    place = read_par(robot(theta=f"{{{theta},0}}"), "r").bodies["body1"].place
    assert str(place.mdh.theta if place.mdh else 0.0) == offset


def test_of_several_symbols_the_one_with_the_number_of_the_frame_is_the_coordinate():
    mechanism = read_par(robot(theta="{q1 + q7,0}"), "r")
    assert [x.name for x in mechanism.q] == ["q1", "r2"]
    assert "which of these" in fault_of(robot(theta="{q8 + q7,0}"))
    assert "which of these" in fault_of(robot(theta="{q1 + t1,0}"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ant": "{2,1}"}, "form a cycle"),
        ({"ant": "{0,2}"}, "form a cycle"),
        ({"r": "{0,t1}"}, "already the coordinate of frame 1"),
        ({"d": "{0,t1}"}, "depends on the coordinate of another joint"),
        ({"M": "{m1,t1}"}, "a constant belongs here"),
        ({"FV": "{0,t1}"}, "a constant belongs here"),
        ({"sigma": "{0,2}", "r": "{0,t1}"}, "depends on the coordinate of another joint"),  # it has a mass
    ],
)
def test_a_tree_or_a_constant_that_makes_no_sense_is_told(changes, words):
    assert words in fault_of(robot(**changes))


def test_a_massless_point_may_follow_a_coordinate_but_nothing_may_hang_on_it():
    assert "frame2" in read_par(robot(sigma="{0,2}", r="{0,t1}", M="{m1,0}"), "r").frames
    three = {key: value.replace("}", ",0}") for key, value in GOOD.items() if value.startswith("{") and key != "G"}
    three |= {"NL": "3", "NJ": "3", "NF": "3", "ant": "{0,1,2}", "sigma": "{0,2,0}", "r": "{0,t1,0}", "M": "{m1,0,0}"}
    assert "without frames after it" in fault_of(robot(**three))


# -- loops -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sigma": "{0,0,0,0,0}", "theta": "{t1,t2,t3,t4,t5}"}, "the second frame of a loop moves"),
        ({"ant": "{0,1,4,3,0}"}, "form a cycle"),
        ({"mu": "{1,0,0,1,0}"}, "closes a loop and cannot have mu"),
        ({"FV": "{0,0,0,f}"}, "closes a loop and cannot have FV"),
        ({"M": "{m1,m2,m3,m4}"}, "closes a loop and cannot have M"),
        ({"M": "{m1,m2,m3,0,m5}"}, "closes a loop and cannot have M"),
        ({"NL": "4"}, "the counts contradict the vectors"),
        ({"NL": "2", "NJ": "4"}, "the counts contradict the vectors"),
        ({"d": "{0,a,b,c,t4}"}, "depends on the coordinate of another joint"),
    ],
)
def test_a_loop_that_makes_no_sense_is_told(changes, words):
    if changes == {"NL": "4"}:
        changes = {"NL": "4", "NJ": "5"}
    assert words in fault_of(loop(**changes))


def test_zeros_for_frames_that_close_loops_are_allowed():
    assert read_par(loop(M="{m1,m2,m3,0,0}", FV="{0,0,f,0}"), "r").loads["friction3"].coordinate == "t3"


# -- headers that contradict the vectors -------------------------------------------------------------------------------
def test_vectors_that_agree_win_over_the_header_with_a_note():
    assert read_par(robot(NL="5", NJ="5", NF="5"), "r").bodies.keys() == {"body1", "body2"}
    assert "tree of 2" in notes_of(robot(NL="5", NJ="5", NF="5"))[0]
    assert "NF = 9" in notes_of(robot(NF="9"))[0]
    assert "read as a tree" in notes_of(robot(NL=None, NJ=None, NF=None))[0]
    assert len(read_par(loop(NL=None), "r").loops) == 1
    assert len(read_par(loop(NJ=None), "r").loops) == 1


def test_a_type_that_contradicts_the_frames_is_noted():
    assert not notes_of(robot(Type="1"))[0].startswith("the header says Type")
    assert "Type simple (0), the frames say tree (1)" in notes_of(robot(ant="{0,0}"))[0]
    assert "Type closed (2), the frames say simple (0)" in notes_of(robot(Type="2"))[0]
    assert "Type tree (1), the frames say closed (2)" in notes_of(loop(Type="1"))[0]


@pytest.mark.parametrize("key", ["b", "sigma", "mu", "theta", "M", "FX", "eta", "GAM", "G", "V0", "Z"])
def test_a_vector_of_the_wrong_length_is_a_fault(key):
    message = fault_of(robot(**{key: "{0,0,0,0,0}"}))
    assert f"the vector '{key}' has a wrong length" in message
    assert "got: 5" in message


def test_lists_of_names_may_have_any_length():
    assert "only holds names" in notes_of(robot(QP="{QP1}"))[0]


def test_without_link_0_a_floating_robot_is_a_fault():
    assert "link 0, the base, comes first" in fault_of(robot(is_floating="1"))


def test_what_has_no_effect_is_noted():
    assert any("no effect there of FV" in note for note in notes_of(robot(sigma="{0,2}", r="{0,0}", FV="{0,f}")))
    assert any("GAM[2]" in note for note in notes_of(robot(GAM="{T1,3}")))


# -- base --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", ["V0", "W0", "VP0", "WP0"])
def test_a_base_with_a_given_motion_is_refused(key):
    message = fault_of(robot(**{key: "{0,2,0}"}))
    assert "the base has a given motion" in message
    assert f"{key}[2]" in message


def test_a_base_that_is_free_in_part_is_noted():
    assert any("free along vy, wz too" in note for note in notes_of(robot(V0="{vx,0,0}")))
    assert any("free along" in note for note in notes_of(robot(W0="{p,0,0}")))


@pytest.mark.parametrize(
    "z",
    ["{1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,0}", "{1,0,0,0,0,1,0,0,0,0,-1,0,0,0,0,1}", "{2,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1}"],
)
def test_a_matrix_that_is_not_a_pose_is_refused(z):
    assert "Z" in fault_of(robot(Z=z))


# -- only our errors ---------------------------------------------------------------------------------------------------
PIECES = [
    b"{",
    b"}",
    b",",
    b"(*",
    b"*)",
    b"(",
    b")",
    b"t1",
    b"q2",
    b"-",
    b"=",
    b"1e99",
    b"Pi/2",
    b"\xe9",
    b"\x00",
    b"0,0",
]


def check_mutations(seed: int, count: int) -> int:
    """Read mutated files; give how many were still mechanisms."""
    rng, good = random.Random(seed), 0
    for _ in range(count):
        try:
            assert isinstance(read_par(mutated(rng, SEEDS, PIECES, b"0123456789tqrdM"), "r", "r.par"), Mechanism)
            good += 1
        except TorseurError:
            pass
    return good


def test_mutated_files_give_a_mechanism_or_our_error():
    count = int(os.environ.get("TORSEUR_FUZZ", "300"))
    assert 0.01 * count < check_mutations(seed=count, count=count) < 0.9 * count


words = st.sampled_from(
    ["t1", "q2", "a", "0", "1.5", "pi", "+", "-", "*", "/", "^", "(", ")", ",", "sin", "t", "[", "]", "2", "'"]
)


@given(st.sampled_from([*GOOD, "Z", "V0", "FX", "GAM", "eta", "k"]), st.lists(words, max_size=12))
def test_any_words_in_a_vector_give_a_mechanism_or_our_error(key, listed):
    with contextlib.suppress(TorseurError):
        read_par(robot(**{key: f"{{{' '.join(listed)}}}"}), "r")


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_gives_our_error(text):
    with pytest.raises(ModelError):
        read_par(text, "r")


# -- no hang -----------------------------------------------------------------------------------------------------------
N = 20_000
LARGE = {
    "parentheses": robot(d=f"{{0,{'(' * N}a{')' * N}}}"),
    "open parentheses": robot(theta=f"{{{'(' * N}t1,0}}"),
    "sum": robot(theta=f"{{t1{'+1' * N},0}}"),
    "vector": robot(d=f"{{0{',0' * N}}}"),
    "comments": "(*" * N,
    "unknown entries": "".join(f"k{k} = 1\n" for k in range(N)),
    "a long file": "x" * 1_000_000,
    "a circle": robot(ant="{" + ",".join(str((k + 1) % 1500 + 1) for k in range(1500)) + "}"),
}


@pytest.mark.parametrize("case", LARGE)
def test_large_wrong_files_are_refused_and_do_not_hang(case):
    assert len(fault_of(LARGE[case])) < 100_000
