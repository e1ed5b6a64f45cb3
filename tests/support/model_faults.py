"""What the checks find in a few lines of a model file."""

from torseur.describe import Mechanism
from torseur.describe.checks import Severity, faults, written
from torseur.formats.yaml.reader import read_document

__all__ = ["ARM", "body", "found", "mechanism", "only"]

ARM = "a: {joint: {kind: revolute, coordinate: q}, inertia: {mass: 1, centre: [1, 0, 0]}}"


def mechanism(text: str) -> Mechanism:
    return read_document(f"torseur: 1\nname: m\n{text}\n").mechanism


def found(text: str, severity: Severity | None = None) -> list[str]:
    """The faults as ``path: what``."""
    every = faults(mechanism(text))
    return [f"{written(fault.path)}: {fault.what}" for fault in every if severity in (None, fault.severity)]


def only(text: str, severity: Severity = Severity.ERROR) -> str:
    """The only fault there is, of this severity; notes do not count unless they are asked for."""
    (fault,) = [
        fault for fault in faults(mechanism(text)) if severity is Severity.NOTE or fault.severity is not Severity.NOTE
    ]
    assert fault.severity is severity
    parts = (("expected", fault.expected), ("got", fault.got), ("remedy", fault.remedy))
    return f"{written(fault.path)}: {fault.what}" + "".join(f" | {name}: {text}" for name, text in parts if text)


def body(fields: str) -> str:
    return f"bodies: {{a: {{{fields}}}}}"
