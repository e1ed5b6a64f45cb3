"""SYMORO .par files, in both dialects: SYMORO+ (Mathematica) and OpenSYMORO (Python)."""

from torseur.formats.symoro.reader import read_par
from torseur.formats.symoro.writer import write_par

__all__ = ["read_par", "write_par"]
