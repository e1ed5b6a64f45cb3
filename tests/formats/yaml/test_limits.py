"""No file can make the reader hang, fill the memory, run code or open another file; only our error comes out."""

import itertools
import os
import random
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.processes import run
from support.random_descriptions import texts
from torseur.errors import ModelError, TorseurError
from torseur.formats.yaml.nodes import LARGEST_FILE, MOST_NODES
from torseur.formats.yaml.reader import read_document, read_yaml

COUNT = int(os.environ.get("TORSEUR_FUZZ", "300"))
HEAD = "torseur: 1\nname: arm\n"

RICH = (Path(__file__).resolve().parents[2] / "data" / "yaml" / "everything.yaml").read_bytes()


OUTCOMES = {"read", "refused"}


def attempt(data: bytes | str) -> str:
    """What comes out: a mechanism, or our error with a place in the file."""
    try:
        read_yaml(data, "f.yaml")
        outcome = "read"
    except ModelError as error:
        for fault in error.faults or (error,):
            assert fault.where.startswith("f.yaml:")
            str(fault).encode()
        outcome = "refused"
    return outcome


def calls(act) -> int:
    """How many functions are called on the way: a measure of work that does not depend on the machine."""
    found = itertools.count()
    sys.setprofile(lambda frame, event, what: next(found) if event in ("call", "c_call") else None)
    try:
        act()
    finally:
        sys.setprofile(None)
    return next(found)


# -- bombs -------------------------------------------------------------------------------------------------------------

BILLION = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + k)}: &{chr(98 + k)} [{','.join(['*' + chr(97 + k)] * 9)}]\n" for k in range(9)
)
BOMBS = {
    "aliases": BILLION,
    "recursive alias": "&a [*a]\n",
    "merge keys": "a: &a {x: 1}\nb: {<<: *a}\n",
    "flow depth": "[" * 100_000,
    "mapping depth": "{a: " * 100_000,
    "block depth": "\n".join(" " * k + "a:" for k in range(1000)),
    "dashes": "- " * 100_000,
    "questions": "? " * 100_000,
    "huge number": HEAD + f"gravity: [0, 0, {'9' * 100_000}]\n",
    "huge exponent": HEAD + "gravity: [0, 0, 1e999999999]\n",
    "power tower": HEAD + f"parameters: {{p: {'9^' * 50}9}}\n",
    "deep formula": HEAD + f"parameters: {{p: {'(' * 5000}1{')' * 5000}}}\n",
    "long formula": HEAD + f"parameters: {{p: {'1+' * 100_000}1}}\n",
    "many values": HEAD + "notes: [" + "x," * (MOST_NODES + 1) + "]\n",
    "long word": HEAD + f"title: {'a' * 4_000_000}\n",
    "long key": f"{'a' * 4_000_000}: 1\n",
    "too large": b"#" * (LARGEST_FILE + 1),
    "surrogates": HEAD + 'title: "\\ud800"\n',
    "escape sequences": HEAD + '"\\e[31m": 1\n',
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_and_does_not_hang(name):
    assert attempt(BOMBS[name]) == "refused"


def many(count: int) -> dict[str, str]:
    ring = range(count)
    return {
        "parameters in a chain": "parameters:\n" + "".join(f"  p{k}: p{k + 1}\n" for k in ring) + f"  p{count}: 1\n",
        "parameters in a circle": "parameters:\n" + "".join(f"  p{k}: p{(k + 1) % count}\n" for k in ring),
        "bodies in a chain": "bodies:\n" + "".join(f"  b{k}: {{parent: b{k + 1}, joint: revolute}}\n" for k in ring),
        "bodies in a circle": "bodies:\n" + "".join(f"  b{k}: {{parent: b{(k + 1) % count}}}\n" for k in ring),
        "the same coordinate": "bodies:\n"
        + "".join(f"  b{k}: {{joint: {{kind: revolute, coordinate: q}}}}\n" for k in ring),
        "unknown names": "parameters:\n" + "".join(f"  p{k}: z{k}\n" for k in ring),
        "unknown keys": "".join(f"p{k}: 1\n" for k in ring),
        "unknown frames": "loops:\n" + "".join(f"  l{k}: {{between: [a{k}, b{k}]}}\n" for k in ring),
    }


@pytest.mark.slow
@pytest.mark.parametrize("case", many(1))
def test_work_grows_with_the_size_of_a_file_not_with_its_square(case):
    small, large = (calls(partial(attempt, HEAD + many(count)[case])) for count in (250, 2000))
    assert large < 12 * small  # 8 times the size


# -- mutations ---------------------------------------------------------------------------------------------------------

TOKENS = [
    b"&a ", b"*a", b"!!python/object:os.system", b"<<", b"? ", b"- ", b": ", b"{", b"}", b"[", b"]", b",", b"|\n",
    b">\n", b"'", b'"', b"#", b"%YAML 1.1\n", b"---\n", b"...\n", b"\t", b"\r", b"\x00", b"\xff", b"\xef\xbb\xbf",
    b"\xe2\x80\xa8", b"1e400", b"-", b".nan", b"null", b"true", b"torseur: 2\n", b"name", b"bodies", b"((((", b"sin(",
    b"if(", b"^", b"1e99",
]  # fmt: skip


def mutated(data: bytes, dice: random.Random) -> bytes:
    for _ in range(dice.choice([1, 1, 1, 2, 4, 16])):
        place, other = sorted(dice.randrange(len(data) + 1) for _ in range(2))
        what = dice.randrange(7)
        if what == 0:
            data = data[:place] + bytes([dice.randrange(256)]) + data[place + 1 :]
        elif what == 1:
            data = data[:place] + dice.choice(TOKENS) + data[place:]
        elif what == 2:
            data = data[:place] + data[min(other, place + dice.randrange(1, 60)) :]
        elif what == 3:
            data = data[:other] + data[place : min(other, place + 200)] + data[other:]
        elif what == 4:
            lines = data.split(b"\n")
            dice.shuffle(lines)
            data = b"\n".join(lines)
        elif what == 5:
            lines = data.split(b"\n")
            del lines[dice.randrange(len(lines))]
            data = b"\n".join(lines)
        else:
            words = data.split(b" ")
            words[dice.randrange(len(words))] = dice.choice(TOKENS)
            data = b" ".join(words)
    return data[:100_000]


def test_mutated_files_give_a_mechanism_or_our_error():
    dice = random.Random(COUNT)
    outcomes = [attempt(mutated(RICH, dice)) for _ in range(COUNT)]
    assert 0.01 * COUNT < outcomes.count("read") < 0.9 * COUNT


@settings(max_examples=min(COUNT, 5000))
@given(st.binary(max_size=200))
def test_any_bytes_give_a_mechanism_or_our_error(data):
    assert attempt(data) in OUTCOMES
    assert attempt(HEAD.encode() + data) in OUTCOMES


@settings(max_examples=min(COUNT, 5000))
@given(texts, texts, texts)
def test_any_texts_in_any_place_give_a_mechanism_or_our_error(key, word, formula):
    assert {
        attempt(HEAD + f"{key}: {word}\nparameters: {{p: {formula}}}\nbodies:\n  {word}:\n    {key}: {formula}\n")
    } <= OUTCOMES


_plain = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts, inner, max_size=4)),
    max_leaves=12,
)
_FIELDS = [
    "parameters",
    "gravity",
    "base",
    "coordinates",
    "bodies",
    "loops",
    "constraints",
    "loads",
    "inputs",
    "outputs",
]


@settings(max_examples=min(COUNT, 5000))
@given(st.dictionaries(st.sampled_from(_FIELDS), _plain, max_size=4))
def test_any_tree_of_values_gives_a_mechanism_or_our_error(tree):
    from torseur.formats.yaml.writer import block

    try:
        text = "\n".join(block(tree)) + "\n"
        text.encode()
    except (OverflowError, UnicodeEncodeError):  # floats that are no numbers, halves of characters
        return
    assert attempt(HEAD + text) in OUTCOMES


# -- no code, no files -------------------------------------------------------------------------------------------------


def test_reading_runs_nothing_and_opens_nothing(tmp_path):
    hostile = tmp_path / "hostile.yaml"
    hostile.write_text(
        HEAD
        + "title: !!python/object/apply:os.system ['touch here']\n"
        + "parameters: {p: __import__('os').system('touch here'), r: !include /etc/hostname, s: open('x')}\n"
        + "bodies: {a: {shapes: [{mesh: /etc/hostname}]}}\n"
    )
    run(
        """
        import sys
        from torseur.errors import ModelError
        from torseur.formats.yaml.reader import read_yaml

        rich, hostile = (open(path, "rb").read() for path in sys.argv[1:])
        read_yaml(rich)  # imports whatever it needs
        try:
            read_yaml(hostile)
        except ModelError:
            pass
        seen = []
        sys.addaudithook(lambda event, arguments: seen.append(event))
        read_yaml(rich)
        try:
            read_yaml(hostile)
        except ModelError as error:
            str(error)
        else:
            raise AssertionError("a hostile file was read")
        allowed = {"object.__getattr__", "sys._getframe", "object.__setattr__", "object.__delattr__"}
        assert not set(seen) - allowed, sorted(set(seen))
        """,
        str(Path(__file__).resolve().parents[2] / "data" / "yaml" / "everything.yaml"),
        str(hostile),
    )
    assert [path.name for path in tmp_path.iterdir()] == ["hostile.yaml"]


def test_the_rich_file_is_sound():
    assert isinstance(read_document(RICH).mechanism.name, str)
    assert attempt(RICH) == "read"


def test_our_errors_are_of_one_tree():
    with pytest.raises(TorseurError):
        read_yaml("")
