"""YAML text as a tree of nodes that know their line and column.

Only the parser of PyYAML is used: it turns text into events and knows nothing of Python objects. The rest is ours, so
that a file means what it looks like: what looks like a decimal number is one, ``true``, ``false`` and ``null`` are what
they say, everything else is text (``no``, ``on``, ``1:30``, dates). Tags, anchors, aliases, doubled keys, several
documents, and more depth or size than a model can need are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import yaml

from torseur.describe.faults import Fault, Location, Severity, shown
from torseur.formats.files import Faults, Mark

__all__ = ["Node", "Source", "Value", "find", "parse", "placed", "plain", "take_down"]

LARGEST_FILE = 5_000_000
DEEPEST = 50
MOST_NODES = 100_000
LARGEST_NUMBER = 1e100
LONGEST_KEY = 200

NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff")


_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser in C where PyYAML has it: twenty times faster."""


Value = str | int | float | bool | None


@dataclass(slots=True)
class Node:
    """A value of the file, where it stands, and the way to it as the file writes it."""

    value: Value | list[Node] | dict[str, Node]
    mark: Mark
    path: Location = ()
    keys: dict[str, Mark] = field(default_factory=dict)
    """Of a mapping: where its keys stand."""

    @property
    def items(self) -> dict[str, Node]:
        """The contents of a mapping; nothing for anything else."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def kind(self) -> str:
        """What it is, in words."""
        if isinstance(self.value, dict):
            return "a mapping"
        if isinstance(self.value, list):
            return "a list"
        return "nothing" if self.value is None else shown(self.value)


class Source(Faults):
    """The faults of a text so far, and the words of what had to be left out because of them."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.left_out: set[str] = set()

    def leave_out(self, key: str, node: Node) -> None:
        """Something is not read: what its words may have named is not known."""
        self.left_out.add(key)
        if isinstance(node.value, str):
            self.left_out.update(_WORD.findall(node.value))
        for name, item in node.items.items():
            self.leave_out(name, item)
        for item in node.value if isinstance(node.value, list) else ():
            self.leave_out(key, item)

    def without_consequences(self, faults: Iterable[Fault]) -> list[Fault]:
        """The faults that are not there only because something was left out."""
        names = self.left_out | {f"d{name}" for name in self.left_out}
        return [fault for fault in faults if fault.about not in names]


def decode(data: str | bytes, source: Source) -> str:
    """The text of a file: UTF-8, of bounded size, without control characters."""
    if len(data) > LARGEST_FILE:
        source.stop(Mark(1, 1), "the file is too large", expected=f"at most {LARGEST_FILE} bytes", got=str(len(data)))
    text = (data if isinstance(data, str) else _utf8(data, source)).removeprefix("\ufeff")
    bad = _CONTROL.search(text)
    if bad is not None:
        source.stop(_place(text, bad.start()), "a character that is not text", got=f"U+{ord(bad[0]):04X}")
    return text


def _utf8(data: bytes, source: Source) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8", errors="replace")
        source.stop(_place(before, len(before)), "the file is not UTF-8", got=f"byte {data[error.start]:#04x}")


def _place(text: str, offset: int) -> Mark:
    before = text[:offset]
    return Mark(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def parse(data: str | bytes, source: Source) -> Node:
    """The tree of a file. Faults that leave something to read are taken down in `source`; the others are raised."""
    text = decode(data, source)
    loader = _Loader(text)
    try:
        return _Composer(loader, source).document()
    except yaml.MarkedYAMLError as error:
        problem = error.problem_mark or error.context_mark
        mark = Mark(1, 1) if problem is None else Mark(problem.line + 1, problem.column + 1)
        reasons = [part for part in (error.context, error.problem) if part]
        lines = text.splitlines()
        line = lines[mark.line - 1] if mark.line <= len(lines) else ""
        source.stop(mark, f"this is not YAML: {', '.join(reasons)}", remedy=_yaml_remedy(line, error.problem or ""))
    except yaml.YAMLError as error:
        source.stop(Mark(1, 1), f"this is not YAML: {error}")
    finally:
        loader.dispose()


def _yaml_remedy(line: str, problem: str) -> str | None:
    """What newcomers to YAML do, and what to do instead."""
    if "\t" in line[: len(line) - len(line.lstrip())] or "'\\t'" in problem:
        return "indent with spaces, not with tabs"
    if "mapping values" in problem or "block end" in problem or "block mapping" in problem:
        return "keys of one mapping begin in the same column; 'key:' and its value are separated by a space"
    if "expected ',' or" in problem:
        return "items between brackets are separated by commas, and every bracket is closed"
    if "cannot start any token" in problem:
        return "text with special characters is put in quotes"
    return None


class _Composer:
    """Builds nodes out of events."""

    def __init__(self, loader: Any, source: Source) -> None:
        self.loader, self.source = loader, source
        self.count, self.depth = 0, 0

    def document(self) -> Node:
        self.loader.get_event()  # the start of the stream
        if self.loader.check_event(yaml.StreamEndEvent):
            self.source.stop(Mark(1, 1), "the file is empty", remedy="begin with 'torseur: 1' and 'name: ...'")
        self.loader.get_event()  # the start of the document
        root = self._node(())
        self.loader.get_event()  # its end
        if not self.loader.check_event(yaml.StreamEndEvent):
            mark = _mark(self.loader.peek_event())
            self.source.fault(mark, (), "a second document in one file", expected="one document")
        return root

    def _node(self, path: Location) -> Node:
        event = self.loader.get_event()
        mark = _mark(event)
        self._refuse(event, mark, path)
        node = Node(None, mark, path)
        if isinstance(event, yaml.ScalarEvent):
            node.value = self._scalar(event, mark, path)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self.depth += 1
            if self.depth > DEEPEST:
                self.source.stop(mark, "the file is nested too deeply", expected=f"at most {DEEPEST} levels")
            self._mapping(node) if isinstance(event, yaml.MappingStartEvent) else self._sequence(node)
            self.loader.get_event()  # its end
            self.depth -= 1
        return node

    def _refuse(self, event: Any, mark: Mark, path: Location) -> None:
        self.count += 1
        if self.count > MOST_NODES:
            self.source.stop(mark, "the file holds too much", expected=f"at most {MOST_NODES} values")
        if event.anchor is not None:  # aliases have one too
            text = "anchors (&) and aliases (*) are not accepted"
            self.source.fault(mark, path, text, remedy="write the value where it is used, or make it a parameter")
        if getattr(event, "tag", None) is not None:
            self.source.fault(mark, path, "tags (!) are not accepted", got=event.tag[:60], remedy="put text in quotes")

    def _sequence(self, node: Node) -> None:
        items: list[Node] = []
        while not self.loader.check_event(yaml.SequenceEndEvent):
            items.append(self._node((*node.path, len(items))))
        node.value = items

    def _mapping(self, node: Node) -> None:
        items: dict[str, Node] = {}
        while not self.loader.check_event(yaml.MappingEndEvent):
            key, mark = self._key(node.path)
            value = self._node((*node.path, key))
            if key in items:
                got = f"the same key on line {node.keys[key].line}"
                self.source.fault(mark, value.path, "this key is already given", got=got)
            else:
                items[key], node.keys[key] = value, mark
        node.value = items

    def _key(self, path: Location) -> tuple[str, Mark]:
        event = self.loader.get_event()
        mark = _mark(event)
        if not isinstance(event, yaml.ScalarEvent):
            # What the key would hold belongs to nothing, and what follows cannot be trusted.
            self.source.stop(mark, "a key must be a word", remedy="put text that begins with { [ & or * in quotes")
        self._refuse(event, mark, path)
        if len(event.value) > LONGEST_KEY:
            self.source.stop(mark, "a key is too long", expected=f"at most {LONGEST_KEY} characters")
        return event.value, mark

    def _scalar(self, event: Any, mark: Mark, path: Location) -> Value:
        text: str = event.value
        if event.style:  # quoted, or a block
            return text
        if text in WORDS:
            return WORDS[text]
        if not NUMBER.fullmatch(text):
            return text
        number = float(text)
        if not abs(number) <= LARGEST_NUMBER:
            self.source.fault(mark, path, "a number is too large", expected="at most 1e100", got=shown(text))
            return 1.0
        return int(text) if text.lstrip("+-").isdecimal() else number


def _mark(event: Any) -> Mark:
    return Mark(event.start_mark.line + 1, event.start_mark.column + 1)


def plain(node: Node) -> Any:
    """The values alone, as dictionaries, lists and scalars."""
    if isinstance(node.value, dict):
        return {key: plain(item) for key, item in node.value.items()}
    if isinstance(node.value, list):
        return [plain(item) for item in node.value]
    return node.value


# -- places ------------------------------------------------------------------------------------------------------------
def find(root: Node, path: Location) -> tuple[Mark, Node]:
    """The node at a path, or the last one on the way to it that exists; steps that name no node are passed over."""
    node, mark = root, root.mark
    for step in path:
        if isinstance(node.value, dict) and step in node.value:
            mark = node.keys.get(str(step), node.mark)
            node = node.value[str(step)]
        elif isinstance(node.value, list) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            mark = node.mark
    is_scalar = not isinstance(node.value, (dict, list)) and node.value is not None
    return (node.mark if is_scalar else mark), node


def take_down(found: Iterable[Fault], root: Node, source: Source) -> None:
    """Note the errors among faults with their places in a tree."""
    for fault in found:
        if fault.severity is Severity.ERROR:
            source.add(*placed(fault, root, source))


def placed(fault: Fault, root: Node, source: Source) -> tuple[Mark, Fault]:
    """A fault with its place in a tree."""
    mark, node = find(root, fault.path)
    return mark, fault.in_file(source.at(mark), node.path)
