"""Follow every link of the built pages: ``python docs/check_links.py docs/_build/html``.

It ends with 1 and names what is broken. A link to a page, picture or file must lead to one that is there, and one to a
place in a page to an element of that name. Pages must not load anything from a network: scripts, styles, fonts and
pictures lie beside them. Addresses on the network that a reader may click are only looked at for their form.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "video": "src",
    "source": "src",
    "object": "data",
    "embed": "src",
}
LINKED = {"a": "href", "area": "href"}


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and the names of its elements."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        if tag == "link":
            is_loaded = given.get("rel", "") in ("stylesheet", "icon", "preload", "shortcut icon")
            (self.loads if is_loaded else self.links).append(given.get("href", ""))
        elif given.get(LOADED.get(tag, "")):
            self.loads.append(given[LOADED[tag]])
        elif tag in LINKED and "href" in given:
            self.links.append(given["href"])


def page_of(file: Path) -> Page:
    page = Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def faults(root: Path) -> Iterator[str]:
    """All that is broken in the pages of a folder, one line each."""
    pages = {file.resolve(): page_of(file) for file in sorted(root.rglob("*.html"))}
    for file, page in pages.items():
        here = file.relative_to(root.resolve())
        yield from (f"{here}: loads {target} from a network" for target in page.loads if urlsplit(target).netloc)
        for target in dict.fromkeys((*page.links, *page.loads)):
            fault = _fault(file, target, pages)
            if fault:
                yield f"{here}: {target}: {fault}"


def _fault(file: Path, target: str, pages: dict[Path, Page]) -> str:
    address = urlsplit(target)
    if address.scheme in ("data", "mailto", "javascript"):
        return ""
    if address.scheme or address.netloc:
        return "" if address.scheme in ("http", "https") and "." in address.netloc else "not an address"
    place = (file.parent / unquote(address.path)).resolve() if address.path else file
    if place.is_dir():
        place /= "index.html"
    if not place.exists():
        return "no such file"
    name = unquote(address.fragment)
    return f"no element '{name}'" if name and place in pages and name not in pages[place].names else ""


if __name__ == "__main__":
    found = list(faults(Path(sys.argv[1])))
    print("\n".join(found) or "all links lead somewhere, and nothing is loaded from a network")
    sys.exit(bool(found))
