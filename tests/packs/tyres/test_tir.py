"""Property files: what is read, and that every fault is told with its line."""

import os
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.mutated_files import mutated
from support.plain_magic_formula import parameters_of
from support.tyre_laws import DATA
from torseur.errors import ArgumentError, ModelError, TorseurError
from torseur.packs.tyres import MagicFormula52, MagicFormula61, load_tir, read_tir

FILES = {"52": DATA / "MagicFormula52_Parameters.tir", "61": DATA / "MagicFormula61_Parameters.tir"}
SMALL = """[MDI_HEADER]
FILE_TYPE = 'tir'
(COMMENTS)
{comment_string}
'Any words = here'
[UNITS]
LENGTH = 'meter'
FORCE  = 'Newton'
ANGLE  = "radians"
[MODEL]
FITTYP = 61
LONGVL = 16.7
TYRESIDE = 'Left'   $ of the car
[DIMENSION]
UNLOADED_RADIUS = 0.3135
[SHAPE]
{radial width}
 1.0    0.0
 0.9    1.0
[VERTICAL]
FNOMIN = 4.0D+3
[LONGITUDINAL_COEFFICIENTS]
PCX1 = 1.6  ! shape
pdx1 = 1.1
PKX1 = +20
[LATERAL_COEFFICIENTS]
PCY1 = 1.3
PDY1 = 1.0
PKY1 = -20
PKY2 = 2
"""


def faults_of(text: str) -> list[str]:
    with pytest.raises(ModelError) as caught:
        read_tir(text, "a.tir")
    return [str(fault) for fault in caught.value.faults or (caught.value,)]


def changed(old: str, new: str) -> str:
    assert old in SMALL
    return SMALL.replace(old, new)


@pytest.mark.parametrize("version", FILES)
def test_every_number_of_a_file_that_the_law_knows_is_in_the_law(version):
    law, P = load_tir(FILES[version]).law, parameters_of(FILES[version])
    known = {name: P[name] for name in P if name in type(law).model_fields}
    assert len(known) > 110
    assert {name: getattr(law, name) for name in known} == known


def test_the_version_makes_the_law_and_the_side_is_that_of_the_measurement():
    assert isinstance(load_tir(FILES["52"]).law, MagicFormula52)
    assert isinstance(load_tir(FILES["61"]).law, MagicFormula61)
    assert (load_tir(FILES["52"]).law.side, load_tir(FILES["61"]).law.side) == ("left", "right")
    for number, law in ((6, MagicFormula52), (21, MagicFormula52), (61, MagicFormula61), (62, MagicFormula61)):
        assert type(read_tir(changed("FITTYP = 61", f"FITTYP = {number}")).law) is law


def test_the_side_of_use_is_kept_and_a_wrong_one_refused():
    assert load_tir(FILES["61"], mounted="left").law.mirrored
    assert not load_tir(FILES["61"], mounted="right").law.mirrored
    assert not load_tir(FILES["61"]).law.mirrored
    with pytest.raises(ArgumentError, match="side"):
        read_tir(SMALL, mounted="top")


def test_comments_quotes_tables_small_letters_and_exponents_of_fortran_are_read():
    law = read_tir(SMALL).law
    assert (law.PCX1, law.PDX1, law.PKX1, law.FNOMIN) == (1.6, 1.1, 20.0, 4000.0)
    assert law.side == "left"


def test_a_mark_of_comments_inside_quotes_is_text():
    assert read_tir(changed("'tir'", "'a $ b ! c'")).law.PCX1 == 1.6


def test_what_is_not_given_is_told():
    notes = read_tir(SMALL).notes
    assert any("PDX2" in note for note in notes)
    assert not any("LMUX" in note for note in notes)


def test_pressures_within_ten_times_the_nominal_one_are_taken():
    given = "NOMPRES = 240000\nINFLPRES = {}\nFNOMIN"
    assert read_tir(changed("FNOMIN", given.format(24001))).law.INFLPRES == 24001.0
    assert faults_of(changed("FNOMIN", given.format(23999)))
    assert read_tir(changed("FNOMIN", given.format(2399999))).law.INFLPRES == 2399999.0
    assert faults_of(changed("FNOMIN", given.format(2400001)))


def test_a_file_without_units_is_taken_as_si_and_that_is_told():
    alone = SMALL.partition("[UNITS]")[0] + "[MODEL]" + SMALL.partition("[MODEL]")[2]
    assert any("SI" in note for note in read_tir(alone).notes)
    assert not any("SI" in note for note in read_tir(SMALL).notes)


def test_names_of_another_version_are_told():
    assert any("PHY3" in note for note in read_tir(SMALL + "PHY3 = 0.1\n").notes)


def test_lines_that_end_otherwise_and_other_encodings_are_read():
    assert read_tir(SMALL.replace("\n", "\r\n").encode()).law == read_tir(SMALL).law
    assert read_tir(b"\xef\xbb\xbf" + SMALL.encode()).law == read_tir(SMALL).law
    assert read_tir(SMALL.replace("! shape", "! \u00e9").encode("latin-1")).law == read_tir(SMALL).law


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("LENGTH = 'meter'", "LENGTH = 'mm'", r"a\.tir:7:10: UNITS: the unit of LENGTH is not SI(.|\n)*'mm'(.|\n)*SI"),
        ('ANGLE  = "radians"', "ANGLE = 'deg'", r"a\.tir:9:9: UNITS: the unit of ANGLE is not SI"),
        ("FORCE  =", "FORSE =", r"a\.tir:8:1: UNITS: no unit of 'FORSE'(.|\n)*FORCE"),
        ("FITTYP = 61", "FITTYP = 5", r"a\.tir:11:10: FITTYP: no version(.|\n)*6 or 21"),
        ("FITTYP = 61", "", r"FITTYP is missing"),
        ("FITTYP = 61", "FITTYP = 'MF'", r"FITTYP: no version"),
        ("'Left'", "'top'", r"a\.tir:13:12: TYRESIDE: no side"),
        ("UNLOADED_RADIUS = 0.3135", "", r"a\.tir:14:1: DIMENSION: UNLOADED_RADIUS is missing"),
        ("UNLOADED_RADIUS = 0.3135", "UNLOADED_RADIUS = -0.3", r"a\.tir:15:19: UNLOADED_RADIUS: a value out of range"),
        ("PKY2 = 2", "PKY2 = 2\nPCY1 = 1.4", r"a\.tir:31:1: LATERAL_COEFFICIENTS: 'PCY1' is given twice(.|\n)*:27:1"),
        ("PKY2 = 2", "PKY2 = two", r"a\.tir:30:8: PKY2: not a number(.|\n)*'two'"),
        ("PKY2 = 2", "PKY2 =", r"a\.tir:30:7: PKY2: not a number(.|\n)*nothing"),
        ("PKY2 = 2", "PKY2 = 1e400", r"PKY2: a number out of range"),
        ("PKY2 = 2", "PKY2 = -2e100", r"PKY2: a number out of range"),
        ("PKY2 = 2", "PKY2 = 2\nPKY33 = 1", r"a\.tir:31:1: (.|\n)*'PKY33'(.|\n)*did you mean PKY3"),
        ("PKY2 = 2", "PKY2 = 2\nXYZZY = 1", r"a\.tir:31:1: (.|\n)*'XYZZY'(.|\n)*comment"),
        ("PKY2 = 2", "PKY2 = 2\nnonsense", r"a\.tir:31:1: LATERAL_COEFFICIENTS: not an entry"),
        ("[VERTICAL]", "[VERTICAL", r"a\.tir:20:1: not a section"),
        ("FNOMIN = 4.0D+3", "FNOMN = 4000", r"did you mean FNOMIN"),
        ("FNOMIN", "FZMIN = 5\nFZMAX = 4\nFNOMIN", r"a\.tir:22:9: FZMAX: a value out of range(.|\n)*FZMIN = 5"),
        ("PKY2 = 2", "PKY2 = 2\nPPY1 = 0.3", r"a\.tir:31:1: PPY1: NOMPRES is missing"),
        ("PKY2 = 2", "PKY2 = 2\nLMUX = -1", r"LMUX: a value out of range"),
        ("PKY2 = 2", "PKY2 = 0", r"a\.tir:30:8: PKY2: a value out of range(.|\n)*other than 0"),
        ("FNOMIN = 4.0D+3", "FNOMIN = 4000\nFZMAX = 3999", r"a\.tir:22:9: FZMAX: a value out of range(.|\n)*FNOMIN"),
        ("FNOMIN", "NOMPRES = 240000\nINFLPRES = 2.4\nFNOMIN", r"a\.tir:22:12: INFLPRES: a value(.|\n)*in pascals"),
        ("PKY1 = -20", "PKYI = -20\nPKY6 = 1", r"'PKYI'(.|\n)*did you mean PKY1\?"),
        ("PKY2 = 2", "PKY2 = __import__('os').getcwd()", r"PKY2: not a number"),
    ],
)
def test_a_fault_is_told_with_its_line(old, new, expected):
    told = "\n".join(faults_of(changed(old, new)))
    assert re.search(expected, told), told


def test_all_faults_are_told_at_once_in_the_order_of_the_file():
    text = changed("UNLOADED_RADIUS = 0.3135", "UNLOADED_RADIUS = x").replace("PCX1 = 1.6", "PCX1 = 'y'")
    told = faults_of(text.replace("PKY1 = -20", "PKYY = -20"))
    assert len(told) == 4
    lines = [int(re.match(r"a\.tir:(\d+)", fault)[1]) for fault in told]
    assert lines == sorted(lines)


def test_names_that_nobody_knows_outside_the_coefficients_are_told_and_left_out():
    notes = read_tir(changed("[DIMENSION]", "[MAKER]\nCONSTRUCTION = '0L5001'\n[DIMENSION]")).notes
    assert any("CONSTRUCTION" in note and ":15:1" in note for note in notes)
    assert any("QXZ9" in note for note in read_tir(changed("[DIMENSION]", "QXZ9 = 1\n[DIMENSION]")).notes)


def test_sizes_are_bounded():
    assert "too long" in str(faults_of(SMALL + "A" * 3000 + " = 1\n"))
    assert "too many entries" in str(faults_of(SMALL + "".join(f"A{k} = 1\n" for k in range(6000))))
    with pytest.raises(ModelError, match="too long"):
        read_tir("$" * 500_000)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        load_tir(tmp_path / "none.tir")


PIECES = [b"[", b"]", b"=", b"$", b"!", b"'", b"{", b"(", b"\n", b"1e999", b"-", b"[UNITS]\n", b"FITTYP = 6\n", b"nan"]


def test_mutated_files_give_a_tyre_or_our_error():
    count, rng = int(os.environ.get("TORSEUR_FUZZ", "300")), random.Random(9)
    seeds, good = [SMALL.encode(), *(file.read_bytes() for file in FILES.values())], 0
    for _ in range(count):
        try:
            read_tir(mutated(rng, seeds, PIECES, b"0123456789PQKXY"))
            good += 1
        except TorseurError:
            pass
    assert 0.02 * count < good < 0.9 * count


@given(st.text(max_size=200) | st.binary(max_size=200))
def test_any_text_gives_our_error(text):
    with pytest.raises(TorseurError):
        read_tir(text)
