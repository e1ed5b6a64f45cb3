"""What notebooks show: mechanisms, models, equations, runs, audits, mobilities and linear models as HTML.

The objects know nothing of it: their ``_repr_html_`` looks up this module when a notebook asks.
"""

from __future__ import annotations

from collections.abc import Iterable

from torseur.describe import Mechanism
from torseur.errors import MissingExtra
from torseur.model.linearisation import Linearised
from torseur.model.mobility import Mobility
from torseur.model.modes import Mode
from torseur.simulation.results.channels import Audit
from torseur.simulation.results.result import Run
from torseur.views.plots import plot
from torseur.views.report.document import Block, Bullets, Figure, Language, Line, Paragraph, Text, Value
from torseur.views.report.html import blocks_html
from torseur.views.report.mechanism_section import GeometryPart, MechanismPart
from torseur.views.report.pictures import Plotted, localised
from torseur.views.report.study_section import audit_blocks
from torseur.views.report.words import Words
from torseur.views.scheme import draw_scheme

__all__ = ["audit_html", "linearised_html", "mechanism_html", "mechanism_svg", "mobility_html", "run_html"]

_WORDS = Words(Language.ENGLISH)
_STYLE = (
    ".torseur table{border-collapse:collapse}.torseur figure{margin:0.5em 0}"
    ".torseur th,.torseur td{padding:2px 10px;text-align:left}.torseur thead{border-bottom:1px solid #999}"
)
_DUST = 1e-12
"""Of an eigenvalue: a smaller real part is rounding."""


def mechanism_html(mechanism: Mechanism) -> str:
    """Its scheme, its joints and its coordinates."""
    geometry = GeometryPart(mechanism, _WORDS)
    blocks = [*MechanismPart(mechanism, _WORDS, {}).opening(), *geometry.bodies(), *geometry.variables()]
    return _titled(mechanism.title or mechanism.name, blocks)


def mechanism_svg(mechanism: Mechanism) -> str:
    """Its scheme."""
    return draw_scheme(mechanism).svg


def run_html(run: Run) -> str:
    """Its overview, and whether its audit holds."""
    blocks: list[Block] = []
    try:
        figure = plot(run)
        blocks.append(Figure((Text(str(run)),), Plotted("overview", localised(figure, Language.ENGLISH))))
    except MissingExtra:
        blocks.append(Paragraph((Text(str(run)),)))
    if run.audited is not None:
        blocks += audit_blocks(run.audited, _WORDS)
    return _titled(run.name, blocks)


def audit_html(audit: Audit) -> str:
    return _shown(audit_blocks(audit, _WORDS))


def mobility_html(mobility: Mobility) -> str:
    head, *rest = mobility.lines()
    bullets = [Bullets(tuple((Text(line),) for line in rest))] if rest else []
    return _shown([Paragraph((Text(head),)), *bullets])


def linearised_html(linear: Linearised) -> str:
    """The table of modes."""
    rows: list[tuple[Line, ...]] = [
        tuple((Value(x, 5),) for x in (_clean(mode), mode.eigenvalue.imag, mode.frequency, _clean(mode, damping=True)))
        for mode in linear.modes
    ]
    heads = ("head.real", "head.imaginary", "head.frequency", "head.damping")
    return _shown([_WORDS.table("caption.modes", heads, rows, (0, 1, 2, 3))])


def _clean(mode: Mode, *, damping: bool = False) -> float:
    """The real part of an eigenvalue, or its damping ratio; zero where it is what rounding leaves."""
    if abs(mode.eigenvalue.real) <= _DUST * abs(mode.eigenvalue):
        return 0.0
    return mode.damping if damping else mode.eigenvalue.real


def _titled(title: str, blocks: Iterable[Block]) -> str:
    return _shown([Paragraph((Text(title),)), *blocks])


def _shown(blocks: Iterable[Block]) -> str:
    return f'<div class="torseur"><style>{_STYLE}</style>{blocks_html(tuple(blocks), Language.ENGLISH)}</div>'
