"""From expression graphs to code: native, and as text in several languages."""

from torseur.emit.jit import Tier
from torseur.emit.native import Backend, NativeFunction, compile, compile_keyed

__all__ = ["Backend", "NativeFunction", "Tier", "compile", "compile_keyed"]
