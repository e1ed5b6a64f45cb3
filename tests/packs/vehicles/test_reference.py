"""The page of vehicle files."""

from pathlib import Path

from click.testing import CliRunner

from torseur.cli.model_files import schema
from torseur.packs.vehicles.document import vehicle_reference

ROOT = Path(__file__).resolve().parent.parent.parent.parent


def test_the_page_of_fields_is_up_to_date():
    page = (ROOT / "docs" / "reference" / "vehicles.md").read_text(encoding="utf-8")
    remedy = "run: torseur schema --of vehicle --markdown"
    assert page.partition("<!-- fields -->\n\n")[2] == vehicle_reference(), remedy


def test_every_field_of_a_vehicle_is_explained():
    rows = [line.split("|") for line in vehicle_reference().splitlines() if line.startswith("| `")]
    assert len(rows) > 200
    assert not [row[1] for row in rows if not row[-2].strip()]


def test_the_command_line_prints_it_and_says_that_there_is_no_json():
    done = CliRunner().invoke(schema, ["--of", "vehicle", "--markdown"])
    assert done.output == vehicle_reference()
    assert "--markdown" in str(CliRunner().invoke(schema, ["--of", "vehicle"]).exception)
