"""The page on operation counts says what is counted: every row of its tables is recounted here."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from torseur.graph import Stage
from torseur.model import equations

spec = spec_from_file_location("operation_counts", Path(__file__).with_name("test_operation_counts.py"))
counts = module_from_spec(spec)
spec.loader.exec_module(counts)

PAGE = Path(__file__).parent.parent.parent / "docs" / "theory" / "operation_counts.md"


def counted(mechanism, quantity, *, base, theirs):
    """Ours every time and once, theirs, and how much less of both kinds together is done every time."""
    found = equations(mechanism, quantity, base_parameters=base).counts
    every_time, once = found[Stage.STATE], found[Stage.PARAMETER]
    change = (every_time.products + every_time.sums) / sum(theirs) - 1.0
    ours = [f"{x.products} / {x.sums}" for x in (every_time, once)]
    return [*ours, f"{theirs[0]} / {theirs[1]}", f"{100 * change:+.0f} %"]


def rows(first):
    """The cells of the rows of the table whose head begins with `first`."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(first))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return found
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def of_the_robots():
    for name, quantity, base, friction, products, sums in counts.OPENSYMORO:
        kind = ("base" if base else "general") + (", with loads" if friction else "")
        numbers = counted(counts.robot(name, friction=friction), quantity, base=base, theirs=(products, sums))
        yield [name, quantity.replace("_", " "), kind, *numbers]


def of_the_general_arm():
    rotations, newton_euler, mampey, cholesky = (72, 36), (805, 704), (541, 467), (65, 65)
    parts = {"inverse_dynamics": (rotations, newton_euler), "mass_matrix": (rotations, mampey)}
    parts["forward_dynamics"] = (rotations, newton_euler, mampey, cholesky)
    for quantity, used in parts.items():
        theirs = [sum(x) for x in zip(*used, strict=True)]
        numbers = counted(counts.general_arm(6), quantity, base=False, theirs=theirs)
        yield [quantity.replace("_", " "), *numbers]


@pytest.mark.parametrize(("head", "expected"), [("| robot |", of_the_robots), ("| | every time", of_the_general_arm)])
def test_the_page_tells_the_truth(head, expected):
    wanted = list(expected())
    assert rows(head) == wanted, "the rows should be\n" + "\n".join(f"| {' | '.join(row)} |" for row in wanted)


def test_the_formulas_on_the_page_are_those_of_the_table():
    text = PAGE.read_text(encoding="utf-8")
    assert re.search(r"Newton-Euler \| \$149 n - 89\$ \| \$130 n - 76\$", text)
    assert 149 * 6 - 89 == 805
    assert 12 * 36 + 26 * 6 - 47 == 541
