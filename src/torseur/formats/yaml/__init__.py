"""Our own files: a mechanism in YAML (see docs/reference/yaml.md)."""

from torseur.formats.yaml.reader import read_yaml
from torseur.formats.yaml.writer import write_yaml

__all__ = ["read_yaml", "write_yaml"]
