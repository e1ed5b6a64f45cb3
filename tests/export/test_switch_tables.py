"""What switches decide by in programs: places of modes, events and rows, and ranks for every combination."""

import shutil

import pytest

from support.example_files import EXAMPLES
from torseur.export import StudyParts
from torseur.simulation.study.reader import read_study

DISC = """torseur_study: 1
model:
  like: rolling_disc.yaml
  bodies:
    pointer:
      joint: {{kind: revolute, coordinate: turn}}
      inertia: {{mass: 0.1, centre: [0.1, 0, 0], tensor: [1e-4, 1e-3, 1e-3]}}
  loads: {{rub: {{spring: {{coordinate: turn, friction: 0.01}}}}}}
until: 1.0
solver: {solver}
"""


@pytest.fixture
def parts_of(tmp_path):
    def made(text, **options):
        shutil.copy(EXAMPLES / "rolling_disc" / "rolling_disc.yaml", tmp_path)
        (tmp_path / "study.yaml").write_text(text)
        return StudyParts(read_study(tmp_path / "study.yaml").study, tmp_path, **options)

    return made


@pytest.mark.parametrize(("solver", "stepped", "after"), [("dopri5", False, ["ground_flat"]), ("rk4", True, [])])
def test_events_of_switches_are_found_where_others_follow_them(parts_of, solver, stepped, after):
    """A wheel that may fall flat is watched by methods of variable step, after all switches."""
    step = ", step: 1e-3" if stepped else ""
    parts = parts_of(DISC.format(solver=f"{{method: {solver}{step}}}"), stepped=stepped)
    facts = parts.switches.facts
    assert facts.count == 1
    assert parts.events[facts.first : facts.first + facts.count] == ["rub_friction"]
    assert parts.events[facts.first + facts.count :] == after
    assert [parts.plant.parts.held[k].name for k in facts.modes] == ["rub_slides"]


def test_ranks_are_found_for_every_combination_of_switches(parts_of):
    """The pointer's row counts while it sticks; those of the disc, which nothing switches, always do."""
    parts = parts_of(DISC.format(solver="{method: rk4, step: 1e-3}"), stepped=True)
    rub, disc = sorted(parts.switches.components, key=lambda one: len(one.table), reverse=True)
    assert [atom.kind.name for atom in rub.atoms] == ["DRY_STICKS"]
    assert [row[0] for row in rub.table] == [0.0, 1.0]
    assert [row[0] for row in disc.table] == [3.0]
    assert {row[3] for row in (*rub.table, *disc.table)} == {0.0}
