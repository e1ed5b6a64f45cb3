"""Identifiers are handed out once each, and quickly."""

from hypothesis import given
from hypothesis import strategies as st

from torseur.emit.text.dialect import Names

WISHES = st.lists(st.sampled_from(["a", "a_2", "a_", "if", "if_", "if_2", "t1", "t2"]), max_size=30)


@given(WISHES)
def test_no_name_is_given_twice_and_none_is_reserved(wishes):
    names = Names({"if"})
    given_names = []
    for wish in wishes:
        given_names += [names.take(wish), names.fresh("t")]
    assert len(set(given_names)) == len(given_names)
    assert "if" not in given_names


@given(WISHES)
def test_a_name_is_given_as_it_is_wished_if_it_is_free(wishes):
    names, taken = Names(), set()
    for wish in wishes:
        found = names.take(wish)
        assert found == wish or wish in taken
        taken.add(found)


def test_what_a_language_spells_alike_is_told_apart():
    names = Names(spell=str.lower)
    assert [names.take(x) for x in ("Ab", "aB", "AB")] == ["ab", "ab_2", "ab_3"]


def test_one_name_wished_for_a_hundred_thousand_times():
    names = Names()
    assert len({names.take("a") for _ in range(100_000)}) == 100_000
