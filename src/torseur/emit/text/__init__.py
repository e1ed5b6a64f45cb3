"""Functions as text: source code of programming languages, and equations for people.

All languages share one plan of what becomes a statement (`statements`) and one way to write expressions (`phrases`); a
language is a table of words (`dialect`) and a frame around statements.
"""

from torseur.emit.text.c import Precision, to_c, to_c_header
from torseur.emit.text.julia import to_julia
from torseur.emit.text.latex import to_latex
from torseur.emit.text.listing import to_listing
from torseur.emit.text.matlab import to_matlab
from torseur.emit.text.python import to_python

__all__ = [
    "Precision",
    "to_c",
    "to_c_header",
    "to_julia",
    "to_latex",
    "to_listing",
    "to_matlab",
    "to_python",
]
