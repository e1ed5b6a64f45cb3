"""The reference of functions and classes is complete: every public one is explained, with an example that runs."""

import functools
import importlib
import inspect
import re
from pathlib import Path

import pytest

import torseur as ts

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
CODE = "\n".join(
    block
    for page in (DOCS / "reference" / "api.md", DOCS / "how_to.md", *sorted((DOCS / "tutorials").glob("*.md")))
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
)
"""What `test_docs` runs of the page, of the tutorials and of the page with answers."""
ENTRY = re.compile(r"^\.\. auto(function|class):: (\S+)\n((?:   .*\n)*)", flags=re.MULTILINE)
MODULES = {"emit", "errors", "examples", "graph"}
"""Public modules, which have pages of their own."""


def found_at(address: str) -> object:
    module, _, name = address.rpartition(".")
    return getattr(importlib.import_module(module), name)


def option(text: str, name: str) -> list[str] | None:
    found = re.search(rf":{name}:(.*)", text)
    return None if found is None else [x.strip() for x in found[1].split(",") if x.strip()]


def entries():
    return {address: (kind, found_at(address), options) for kind, address, options in ENTRY.findall(PAGE)}


def members(kind: type, options: str) -> dict[str, object]:
    """What the page shows of a class: all that is public, or what it lists, without what it leaves out."""
    listed, left_out = option(options, "members"), option(options, "exclude-members") or []
    if listed is None:
        return {}
    names = listed or [n for n in vars(kind) if not n.startswith("_") and n not in left_out]
    return {name: vars(kind)[name] for name in names}


def function_of(member: object) -> object:
    member = getattr(member, "__func__", member)
    if isinstance(member, functools.cached_property):
        return member.func
    return member.fget if isinstance(member, property) else member


SHOWN = [(address, "", one) for address, (_, one, _) in entries().items()]
SHOWN += [
    (address, name, function_of(member))
    for address, (kind, one, options) in entries().items()
    if kind == "class"
    for name, member in members(one, options).items()
    if not isinstance(member, (int, str, float, tuple, type(None)))
]


def test_every_public_name_is_on_the_page():
    shown = {id(one) for _, one, _ in entries().values()}
    kinds = {n: getattr(ts, n) for n in ts.__all__ if isinstance(getattr(ts, n), type)}
    errors = {n for n, kind in kinds.items() if issubclass(kind, (Exception, Warning))}
    wanted = set(ts.__all__) - MODULES - errors - {"__version__"}
    assert len(wanted) > 20
    assert not {name for name in wanted if id(getattr(ts, name)) not in shown}


@pytest.mark.parametrize(("address", "name", "one"), SHOWN, ids=[f"{a}.{n}".rstrip(".") for a, n, _ in SHOWN])
def test_it_is_explained_with_an_example_that_runs(address, name, one):
    text = inspect.getdoc(one) or ""
    assert text.splitlines()[:1], "no docstring"
    lines = [line for line in text.splitlines() if line.strip().startswith((">>>", "..."))]
    called = name or address.rpartition(".")[2]
    if not inspect.isclass(one):  # what functions return is shown where they are
        is_run = any("+SKIP" not in line for line in lines)
        assert is_run or re.search(rf"\.{called}\b", CODE), "no example that is run"
