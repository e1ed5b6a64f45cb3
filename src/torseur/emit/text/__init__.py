"""Functions as text: source code of programming languages, and equations for people.

All languages share one plan of what becomes a statement (`statements`) and one way to write expressions (`phrases`); a
language is a table of words (`dialect`) and a frame around statements. `LANGUAGES` is the table of them, which packages
extend: a name, and what makes the text of a function.
"""

from collections.abc import Callable

from torseur.emit.text.c import Precision, to_c, to_c_header
from torseur.emit.text.julia import to_julia
from torseur.emit.text.latex import to_latex
from torseur.emit.text.matlab import to_matlab
from torseur.emit.text.python import to_python
from torseur.emit.text.reading import to_listing
from torseur.extensions import Kinds
from torseur.graph.function import Function

__all__ = [
    "LANGUAGES",
    "Precision",
    "to_c",
    "to_c_header",
    "to_julia",
    "to_latex",
    "to_listing",
    "to_matlab",
    "to_python",
]

LANGUAGES: Kinds[Callable[[Function], str]] = Kinds(
    "languages",
    {
        "text": to_listing,
        "latex": to_latex,
        "python": to_python,
        "c": to_c,
        "matlab": to_matlab,
        "julia": to_julia,
    },
)
"""The languages of the core, and those of extensions."""
