"""What MATLAB and Julia have in common: arrays counted from one, matrices of their own, one state at a time.

Results of the prologue are handed on in one array called ``work``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from torseur.emit.text.frame import Frame, inputs_of, lines_of, subscripts
from torseur.emit.text.phrases import Writer
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.function import Output, Stage
from torseur.graph.nodes import Bundle, Node, Truth
from torseur.graph.routine import Loops

__all__ = ["DOMAINS", "OneBasedFrame"]

DOMAINS = {
    ops.SQRT: "x < 0",
    ops.LOG: "x < 0",
    ops.ASIN: "abs(x) > 1",
    ops.ACOS: "abs(x) > 1",
    ops.ACOSH: "x < 1",
    ops.ATANH: "abs(x) > 1",
}
"""Functions that leave the real numbers, and where: their texts give NaN there."""


class OneBasedFrame(Frame):
    """A source file whose arrays are counted from one."""

    brackets: ClassVar[str]
    """Around subscripts."""
    unequal: ClassVar[str]
    double: ClassVar[str]
    """What turns a truth into a number."""
    continued: ClassVar[str] = ""
    """The end of a line that goes on in the next."""

    @abstractmethod
    def giving(self, name: str, arguments: Sequence[str], lines: Sequence[str], result: str) -> str:
        """A function of one result, which is given as an expression."""

    @abstractmethod
    def room(self, shape: Sequence[int]) -> str:
        """An array of a shape, to be filled."""

    def at(self, name: str, *places: object) -> str:
        return f"{name}{self.brackets[0]}{', '.join(map(str, places))}{self.brackets[1]}"

    def element(self, name: str, block: Block, k: int, inner: bool) -> str:
        return self.at(name, *([k + 1] if inner else subscripts(block.shape, k, 1)))

    def output(self, output: Output) -> list[str]:
        """The lines that make an output of the main function."""
        name = self.main.plan.outputs[output.name]
        if output.shape == ():
            return [self.dialect.statement % (name, self.main.text(output.exprs[0]))]
        pairs = [(name, self.room(output.shape))]
        for k, e in enumerate(output.exprs):
            pairs.append((self.at(name, *subscripts(output.shape, k, 1)), self.main.text(e)))
        return [self.dialect.statement % pair for pair in pairs]

    def inner(self, name: str, writer: Writer) -> str:
        plan = writer.plan
        lines = self.body(writer, plan.parts[-1], inner=True)
        arguments = [plan.blocks[b.name] for b in plan.function.inputs]
        return self.giving(name, arguments, lines, self.array(writer, plan.function.results))

    # -- routines: results and work are handed in as zeros -----------------------------------------------------------
    @abstractmethod
    def zeros(self, size: int) -> str:
        """A column of zeros, in a function that calls a routine."""

    def numbers(self, values: Sequence[float]) -> str:
        """A column of constants."""
        if not values:
            return self.zeros(0)
        return lines_of("[", [self.dialect.number(x) for x in values], "]", continued=self.continued, separator=";")

    def called_routine(self, routine: str, loops: Loops) -> tuple[list[str], str]:
        """The lines that make tables and results y1, y2, ..., and the call of the routine."""
        pairs = [(f"table{k}", self.numbers(values)) for k, values in enumerate(loops.tables, 1)]
        results = [(f"y{k}", self.zeros(n)) for k, n in enumerate(loops.outs, 1)]
        given = [*map(str, loops.whole), *(name for name, _ in pairs), *(f"a{k + 1}" for k in range(len(loops.inputs)))]
        given += [*(name for name, _ in results), *(self.zeros(n) for n in loops.works)]
        call = lines_of(f"{routine}(", given, ")", continued=self.continued)
        return [self.dialect.statement % pair for pair in (*pairs, *results)], call

    # -- the prologue ------------------------------------------------------------------------------------------------
    def prologue_inputs(self) -> list[str]:
        return self.block_names(inputs_of(self.function, Stage.PARAMETER))

    def prologue_call(self) -> str:
        return f"{self.unit.companions['prologue']}({', '.join(self.prologue_inputs())})"

    def stored(self, node: Node) -> str:
        name = self.main.plan.names[node.id]
        return f"{self.double}({name})" if isinstance(node, Truth) else name

    def load(self, writer: Writer, node: Node) -> str:
        slot = writer.plan.slots[node.id]
        first, last = slot.offset + 1, slot.offset + slot.size
        place = self.at("work", f"{first}:{last}" if isinstance(node, Bundle) else first)
        text = f"{place} {self.unequal} 0" if isinstance(node, Truth) else place
        return self.assignment(node, writer.plan.names[node.id], text)
