"""Plain values as YAML text: small things on one line, large ones in blocks, numbers exact."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from torseur.formats.yaml_nodes import NUMBER, WORDS

__all__ = ["block", "flow"]

WIDTH = 110

# Text that YAML takes as it is, in a line of braces too.
_SAFE = re.compile(r"(?:[A-Za-z0-9_(.]|[-+][A-Za-z0-9_(.])(?:[A-Za-z0-9_+*/^().<>=' -]*[A-Za-z0-9_+*/^().<>='-])?")
# Words that other YAML readers take for something else.
_FALSE_FRIENDS = {"yes", "no", "on", "off", "true", "false", "null"}
_ESCAPED = re.compile('["\\\\]|[^\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]')


def block(value: dict[str, Any], indent: int = 0, *, spread: bool = False) -> Iterator[str]:
    """The lines of a mapping, one entry after the other; `spread` keeps mappings from being one line."""
    for key, item in value.items():
        head = f"{' ' * indent}{_text(key)}:"
        line = head if item is None else f"{head} {flow(item)}"
        if not item or not isinstance(item, (dict, list)) or not (spread or len(line) > WIDTH or _is_deep(item)):
            yield line
        elif isinstance(item, dict):
            yield head
            yield from block(item, indent + 2)
        else:
            yield head
            yield from (f"{' ' * (indent + 2)}- {flow(element)}" for element in item)


def _is_deep(item: Any) -> bool:
    """Whether something is clearer in a block: mappings of mappings, and several mappings or sentences in a list."""
    inside = item.values() if isinstance(item, dict) else item
    return len(item) > 1 and any(isinstance(x, dict) or (isinstance(x, str) and " " in x) for x in inside)


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_text(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _text(value) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    text = repr(float(value))
    return text.removesuffix(".0") if text != "-0.0" else text


def _text(value: str) -> str:
    is_read_as_text = value not in WORDS and not NUMBER.fullmatch(value) and value.lower() not in _FALSE_FRIENDS
    if is_read_as_text and _SAFE.fullmatch(value):
        return value
    return '"' + _ESCAPED.sub(_escape, value) + '"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in '"\\':
        return f"\\{character}"
    if character == "\n":
        return "\\n"
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
