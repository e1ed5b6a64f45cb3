"""``torseur draw``: what it writes, what it says, how it fails."""

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from torseur.cli import main

RX90 = str(Path(__file__).resolve().parent.parent / "data" / "symoro" / "RX90.par")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_it_writes_a_picture_and_says_what_it_assumed(capsys):
    assert main(["draw", RX90, "-o", "arm.svg"]) == 0
    assert ElementTree.parse("arm.svg").getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert capsys.readouterr().out == "arm.svg written\nnote: lengths without value drawn as 1 m: D3, RL4\n"


def test_the_picture_is_called_after_the_model():
    assert main(["draw", RX90]) == 0
    assert Path("RX90.svg").exists()


def test_coordinates_and_parameters_can_be_given(capsys):
    arguments = ["--pose", "th2=-30*deg, th3=pi/2", "--pose", "th5=1", "--set", "D3=0.45,RL4=1/2"]
    assert main(["draw", RX90, *arguments]) == 0
    expected = "note: drawn at th2 = -0.524, th3 = 1.57, th5 = 1; other coordinates 0\n"
    assert capsys.readouterr().out == f"RX90.svg written\n{expected}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.par"], "missing.par"),
        ([RX90, "-o", "arm.png"], "only SVG is written"),
        ([RX90, "-o", "no/folder/arm.svg"], "cannot be written"),
        ([RX90, "--pose", "th9=1"], "no coordinate 'th9'"),
        ([RX90, "--pose", "th1"], "not a pair"),
        ([RX90, "--pose", "=1"], "not a pair"),
        ([RX90, "--pose", "th1="], "not a pair"),
        ([RX90, "--pose", "th1=th2"], "is not a number"),
        ([RX90, "--pose", "th1=1/0"], "is not a number"),
        ([RX90, "--pose", "th1=1e300*1e300"], "th1"),
        ([RX90, "--set", "th1=1"], "no parameter 'th1'"),
    ],
)
def test_what_cannot_be_drawn_is_said(arguments, said, capsys):
    assert main(["draw", *arguments]) == 1
    assert said in capsys.readouterr().err
    assert not list(Path().glob("*.svg"))
