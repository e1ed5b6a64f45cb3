"""Our own files: a mechanism in YAML (see docs/reference/yaml.md)."""

from torseur.describe.mechanism import Mechanism
from torseur.formats.format import Format, Losses, ModelFile, Reading
from torseur.formats.yaml.reader import read_document, read_yaml
from torseur.formats.yaml.writer import write_yaml

__all__ = ["YAML", "read_yaml", "write_yaml"]


def _read(file: ModelFile) -> Reading:
    document = read_document(file.data, file.where, loads=file.loads, folder=file.path.parent)
    return Reading(document.mechanism, document.placed)


def _write(mechanism: Mechanism, losses: Losses) -> str:
    return write_yaml(mechanism)


YAML = Format("YAML", _read, _write)
"""It holds every mechanism."""
