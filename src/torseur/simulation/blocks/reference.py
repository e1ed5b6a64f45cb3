"""The tables of all kinds of blocks and their fields, written from the records themselves."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic.fields import FieldInfo

from torseur.describe.formulas import Formula
from torseur.simulation.blocks.base import Block
from torseur.simulation.blocks.table import GROUPS

__all__ = ["reference"]


def reference(groups: Mapping[str, Mapping[str, type[Block]]] = GROUPS) -> str:
    """Markdown: a table of kinds, then one section for each with its fields."""
    lines = ["| kind | what it is |", "|---|---|"]
    for title, table in groups.items():
        lines.append(f"| **{title}** | |")
        lines += [
            f"| [`{kind}`](#{kind}) | {_text(block).split('. ')[0].rstrip('.')} |" for kind, block in table.items()
        ]
    lines.append("")
    for title, table in groups.items():
        lines += [f"## {title}", ""]
        for kind, block in table.items():
            lines += [f"### {kind}", "", _text(block), "", "| field | by default | meaning |", "|---|---|---|"]
            lines += [_row(name, field) for name, field in block.model_fields.items()]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _text(block: type[Block]) -> str:
    """The docstring on one line; bars would end the cell of a table."""
    return " ".join((block.__doc__ or "").split()).replace("|", "\\|")


def _row(name: str, field: FieldInfo) -> str:
    default = "required" if field.is_required() else _default(field.default)
    return f"| `{name}` | {default} | {(field.description or '').replace('|', chr(92) + '|')} |"


def _default(value: object) -> str:
    if value is None or value == () or value == {}:
        return ""
    if isinstance(value, (float, Formula)):
        return f"`{value:.6g}`" if isinstance(value, float) else f"`{value.text}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(f'{x:g}' for x in value)}]`"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"
