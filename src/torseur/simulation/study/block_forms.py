"""The forms in which a study file may write a block: a number, a formula, a mapping from a kind to its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torseur.describe.faults import guess
from torseur.describe.formulas import Formula
from torseur.errors import ModelError
from torseur.formats.yaml.nodes import Node, Source
from torseur.formats.yaml.short_forms import shape
from torseur.formats.yaml.writer import plain
from torseur.simulation.blocks import Block, Constant, FormulaSignal, PythonBlock

__all__ = ["shape_block", "short_block"]

_EXPECTED = "a number, a formula, or a mapping from a kind to its fields"


def shape_block(node: Node, kinds: Mapping[str, type[Block]], source: Source) -> tuple[type[Block], Node] | None:
    """The kind of a block and its contents in their full form; what is wrong is taken down."""
    if isinstance(node.value, str):
        return FormulaSignal, _under(node, "value")
    if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return Constant, _under(node, "value")
    if not isinstance(node.value, dict):
        source.fault(node.mark, node.path, "this is not a block", expected=_EXPECTED, got=node.kind)
        return None
    if len(node.value) != 1:
        got = ", ".join(list(node.value)[:12]) or "nothing"
        source.fault(node.mark, node.path, "a block has exactly one kind", expected="one key, its kind", got=got)
        return None
    ((name, inner),) = node.value.items()
    if name not in kinds:
        expected, remedy = guess(name, kinds)
        source.fault(node.keys[name], inner.path, f"no kind of block '{name}'", expected=expected, remedy=remedy)
        return None
    kind = kinds[name]
    if inner.value is not None and not isinstance(inner.value, dict):
        required = [field for field, info in kind.model_fields.items() if info.is_required()]
        if len(required) != 1:
            expected = "a mapping with " + ", ".join(kind.model_fields)
            text = "a block of this kind needs its fields by name"
            source.fault(inner.mark, inner.path, text, expected=expected, got=inner.kind)
            return None
        inner = _under(inner, required[0])
    return kind, shape(inner, kind, source)


def _under(node: Node, key: str) -> Node:
    return Node({key: node}, node.mark, node.path, {key: node.mark})


def short_block(block: Block, where: str) -> Any:
    """A block as plain data, in its shortest form that reads back the same.

    >>> short_block(Constant(value=2.0), "inputs.f"), short_block(FormulaSignal(value="sin(t)"), "inputs.f")
    (2.0, 'sin(t)')
    """
    if isinstance(block, PythonBlock):
        raise ModelError("a file cannot hold a Python function", where=where, remedy="keep this study in Python")
    fields = plain(block)
    if isinstance(block, Constant) and isinstance(block.value, float):
        return block.value
    if isinstance(block, FormulaSignal) and isinstance(block.value, Formula) and not block.breaks:
        return block.value.text
    return {block.kind: fields}
