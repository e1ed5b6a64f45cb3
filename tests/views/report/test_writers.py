"""What users wrote comes out as they wrote it, in every language of documents, and does nothing there."""

import re
import shutil
import subprocess
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from torseur.views.report.document import (
    Bullets,
    Code,
    Document,
    Emphasis,
    Equation,
    EquationLine,
    Figure,
    Formula,
    Language,
    Listing,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
    Unit,
    Value,
)
from torseur.views.report.html import to_html
from torseur.views.report.latex import escaped, to_latex_document
from torseur.views.report.math import Look, Word, parsed
from torseur.views.report.typst import quoted, to_pdf, to_typst

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
HOSTILE = [
    "<script>alert(1)</script>",
    "</p></body>&amp;&#x41;",
    r"\input{/etc/passwd} \write18{ls} $x^2$ %comment",
    "{unbalanced }} #set page(fill: red) ] [ *a* _b_ `c` $",
    '#"quoted".len() \\" "; #eval("1")',
    "a -- b ''c'' ,,d'' ?` ~ ^ | < >",
    "θ̇ 中文 𝔐 émü ½ ² \u202e\u0000\x1b\n\ttab",
    "kg m2/s^2 * N**-1 %/°C",
]
TEXTS = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(HOSTILE)


@dataclass(frozen=True)
class Square:
    name: str = "square"
    width: float = 0.2

    def svg(self) -> bytes:
        return SVG

    def pdf(self) -> bytes:
        return b"%PDF-1.4\n%%EOF\n"


def document(*texts: str, language: Language = Language.FRENCH) -> Document:
    """With every text in every place a text can have."""
    blocks = []
    for text in texts:
        line = (Text(text), Strong(text), Emphasis(text), Code(text), Unit(text), Value(-1.5e-12), Formula(parsed("x")))
        blocks += [
            Paragraph(line),
            Bullets((line,)),
            Table(line, (line, (Text("n"),)), ((line, (Value(2.5),)),), frozenset({1})),
            Equation((EquationLine(Word(text or "x", Look.TYPEWRITER), Word(text or "x", Look.TEXT)),)),
            Listing(text),
            Figure((Text(text),), Square()),
        ]
    title = (Text(texts[0]),)
    return Document(title, title, language, (Section(title, tuple(blocks)),), date=texts[0] or "-")


def printable(text: str) -> str:
    return "".join(c if c.isprintable() or c in "\u00a0\u202f" else " " for c in text)


class Paragraphs(HTMLParser):
    """The text of every paragraph, and all tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.texts, self.inside = [], [], False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "code":
            self.texts.append("")
        self.inside = tag == "code"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data


PLAIN = Paragraphs(to_html(document("x"))).tags


@given(TEXTS)
def test_html_shows_what_was_written_and_takes_nothing_for_a_tag(text):
    found = Paragraphs(to_html(document(text)))
    assert Counter(tag for tag in found.tags if tag != "sup") == Counter(tag for tag in PLAIN if tag != "sup")
    assert all(" ".join(x.split()) == " ".join(printable(text).split()) for x in found.texts)


def test_html_asks_nothing_of_the_network():
    html = to_html(document(*HOSTILE))
    assert "default-src 'none'" in html
    sources = re.findall(r'(?:src|href)="([^"]*)"', html)
    assert sources
    assert all(x.startswith(("data:", "#")) for x in sources)


LATEX_WORDS = (
    r"\\(?:text(?:backslash|asciicircum|asciitilde|less|greater|quotedbl|asciigrave|bar|euro)|dots|oe|OE)\{\}"
    r"|\\ensuremath\{(?:\\[A-Za-z]+|[-^_]?(?:\{[-\d]*\})?'?)\}|\\othercharacter\{[0-9A-F]+\}|\\[{}$&#%_,]|\{[\[\]]\}|\{\}"
)


@given(TEXTS)
def test_latex_has_no_command_in_it_that_is_not_ours(text):
    left = re.sub(LATEX_WORDS, "", escaped(text))
    assert not re.search(r"[\\{}$&#%_^]", left)
    assert "--" not in escaped(text) or any(c in text for c in "–—")


@given(TEXTS)
def test_a_typst_string_holds_what_was_written_and_ends_where_it_ends(text):
    inside = quoted(text)
    assert inside[0] == inside[-1] == '"'
    assert not re.search(r'(?<!\\)(?:\\\\)*"', inside[1:-1])
    assert inside[1:-1].replace('\\"', '"').replace("\\\\", "\\") == printable(text)


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_documents_with_any_text_can_be_written(texts):
    made = document(*texts)
    assert to_latex_document(made).count(r"\begin{document}") == 1
    assert to_typst(made)


def test_typst_makes_pages_of_hostile_texts():
    pytest.importorskip("typst")
    found = to_pdf(document(*HOSTILE))
    assert found.startswith(b"%PDF")
    assert found == to_pdf(document(*HOSTILE))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX is installed")
@pytest.mark.parametrize("language", Language)
def test_latex_compiles_with_hostile_texts(language, tmp_path):
    made = document(*HOSTILE, language=language)
    source = re.sub(r"\\includegraphics\[.*?\]\{.*?\}", "picture", to_latex_document(made))
    (tmp_path / "report.tex").write_text(source, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "report.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout.decode("utf-8", "replace")[-2000:]


def test_a_table_without_room_is_broken_into_lines():
    wide = ((Text("word " * 60),), (Text("word " * 60),))
    source = to_latex_document(
        Document((Text("t"),), (), Language.ENGLISH, (Section((), (Table((), ((), ()), (wide,)),)),))
    )
    widths = [float(x) for x in re.findall(r"p\{([\d.]+)\\linewidth\}", source)]
    assert len(widths) == 2
    assert 0.6 < sum(widths) < 1.0
