"""What programming languages have in common around expressions: the order of a file, and the body of a function.

A *main* function takes arrays as the caller has them and gives arrays; it may be cut into stages. An *inner* function
is what it calls: one flat array per block in, one flat array out.

MATLAB and Julia have more in common: arrays counted from one, matrices of their own, one state at a time; there results
of the prologue are handed on in one array called ``work``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

from torseur.emit.text.dialect import Dialect, Layout
from torseur.emit.text.phrases import Writer
from torseur.emit.text.routines import Notation, RoutineText
from torseur.emit.text.statements import Part
from torseur.emit.text.unit import Called, Unit, grouped
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.calls import Iteration
from torseur.graph.function import STAGE_OF, Function, Output, Stage
from torseur.graph.functions import Piecewise
from torseur.graph.nodes import Bundle, Expr, Node, Truth
from torseur.graph.routine import Loops

__all__ = ["DOMAINS", "Frame", "OneBasedFrame", "describe", "horner", "inputs_of", "lines_of", "subscripts"]


WIDTH = 110


class LoopCalls(NamedTuple):
    """The calls of a loop, as text."""

    loop: Iteration
    arguments: list[str]
    start: str
    step: str
    finish: str


class Frame(ABC):
    """One source file of one language."""

    layout: ClassVar[Layout] = Layout()
    prefix: ClassVar[str] = ""
    companions: ClassVar[tuple[str, ...]] = ("prologue",)
    indent: ClassVar[str] = "    "
    notation: Notation

    def __init__(self, function: Function, dialect: Dialect) -> None:
        self.function, self.dialect = function, dialect
        self.unit = Unit(function, dialect, self.prefix, self.companions)
        self.main = self.unit.writer(function, self.layout)

    def inner_functions(self) -> list[str]:
        """Tables, routines, called functions and loops, in an order in which each is known before it is used."""
        texts = [self.table(name, curve) for curve, name in self.unit.tables.items()]
        for routine in self.unit.routines.values():
            written = RoutineText(routine, self.routine_dialect, self.notation)
            remark = self.dialect.comment % routine.description
            texts.append(f"{remark}\n{self.routine(self.unit.name_of_function(routine), written)}")
        for item in self.unit.called:
            name = self.unit.name_of(item)
            match item.lowered:
                case Iteration():
                    texts.append(self.loop(name, item))
                case Loops() as loops:
                    texts.append(self.routine_call(name, self.unit.name_of_function(loops.routine), loops))
                case Function() as function:
                    layout = replace(self.layout, prologue=False, instant=False)
                    texts.append(self.inner(name, self.unit.writer(function, layout)))
        return texts

    @abstractmethod
    def table(self, name: str, curve: Piecewise) -> str:
        """The function of an interpolated table."""

    @abstractmethod
    def loop(self, name: str, item: Called) -> str:
        """The function of an iteration."""

    @abstractmethod
    def inner(self, name: str, writer: Writer) -> str:
        """A called function."""

    @property
    def routine_dialect(self) -> Dialect:
        """How routines write expressions."""
        return self.dialect

    @abstractmethod
    def routine(self, name: str, text: RoutineText) -> str:
        """The function of a routine, for all sizes."""

    @abstractmethod
    def routine_call(self, name: str, routine: str, loops: Loops) -> str:
        """The function that calls a routine with its whole numbers and tables, on arrays a1, a2, ..."""

    # -- bodies ------------------------------------------------------------------------------------------------------
    def body(self, writer: Writer, part: Part, *, inner: bool) -> list[str]:
        """The lines of one stage: inputs read, results of earlier stages read, statements."""
        lines = []
        for symbol in part.symbols:
            block = self.block_of(symbol)
            if block.shape != ():
                place = self.element(writer.plan.blocks[block.name], block, symbol.data[1], inner)
                lines.append(self.assignment(symbol, writer.plan.names[symbol.id], place))
        lines += [self.load(writer, node) for node in part.loads]
        for node in part.statements:
            name = writer.plan.names[node.id]
            if isinstance(node, Bundle):
                lines += self.call(writer, node, name)
            else:
                lines.append(self.assignment(node, name, writer.definition(node)))
        return lines

    def block_of(self, symbol: Expr) -> Block:
        return symbol.graph.blocks[symbol.data[0]]

    def assignment(self, node: Node, name: str, text: str) -> str:
        return self.dialect.statement % (name, text)

    @abstractmethod
    def element(self, name: str, block: Block, k: int, inner: bool) -> str:
        """An element of an input array, by its place in row-major order."""

    @abstractmethod
    def load(self, writer: Writer, node: Node) -> str:
        """The line that reads a result of an earlier stage."""

    @abstractmethod
    def array(self, writer: Writer, items: Sequence[Expr]) -> str:
        """A flat array made on the spot."""

    def call(self, writer: Writer, node: Bundle, name: str) -> list[str]:
        """The lines that call a function and keep its results under a name."""
        text = f"{self.unit.name_of(node.data)}({', '.join(self.arguments(writer, node))})"
        return [self.assignment(node, name, text)]

    def arguments(self, writer: Writer, node: Bundle) -> list[str]:
        texts = []
        for block, group in grouped(node):
            if isinstance(group, Bundle):
                texts.append(writer.text(group))
            elif block.shape == ():
                texts.append(self.value(writer, group[0]))
            else:
                texts.append(self.array(writer, group))
        return texts

    def value(self, writer: Writer, node: Expr) -> str:
        """A number handed on to another function."""
        return writer.text(node)

    def block_names(self, blocks: Sequence[Block]) -> list[str]:
        """The identifiers of blocks of the main function."""
        return [self.main.plan.blocks[b.name] for b in blocks]

    def loop_calls(self, item: Called, done: str) -> LoopCalls:
        """The three calls a loop is made of, on `state`, `done` and arguments a1, a2, ..."""
        loop = item.lowered
        assert isinstance(loop, Iteration)
        arguments = [f"a{k}" for k, _ in enumerate(item.blocks, 1)]
        groups = (loop.start, arguments), (loop.step, ["state", *arguments]), (loop.finish, ["state", done, *arguments])
        texts = [f"{self.unit.name_of_function(f)}({', '.join(args[: len(f.inputs)])})" for f, args in groups]
        return LoopCalls(loop, arguments, *texts)

    def indented(self, lines: Sequence[str], depth: int = 1) -> list[str]:
        return [(self.indent * depth + line).rstrip() for text in lines for line in text.split("\n")]


def inputs_of(function: Function, stage: Stage) -> list[Block]:
    """The blocks that a stage may read."""
    return [b for b in function.inputs if STAGE_OF[b.role] <= stage]


def subscripts(shape: Sequence[int], k: int, first: int) -> list[str]:
    """The place of element k in row-major order, counted from `first` in every direction.

    >>> subscripts((2, 3), 4, 0)
    ['1', '1']
    """
    places = []
    for n in reversed(shape):
        k, place = divmod(k, n)
        places.append(str(place + first))
    return places[::-1]


def horner(coefficients: Sequence[str], u: str) -> str:
    """A polynomial in u, constant term first. A constant still takes not-a-number from u.

    >>> horner(["a", "b", "c"], "u")
    'a + u*(b + u*c)'
    """
    if len(coefficients) == 1:
        return f"{coefficients[0]} + 0.0*{u}"
    text = coefficients[-1]
    for k, c in enumerate(reversed(coefficients[:-1])):
        text = f"{c} + {u}*{text}" if k == 0 else f"{c} + {u}*({text})"
    return text


def lines_of(opening: str, items: Sequence[str], closing: str, *, continued: str = "", separator: str = ",") -> str:
    """A list in brackets, on one line if it fits, else on several."""
    one = f"{opening}{f'{separator} '.join(items)}{closing}"
    if len(one) <= WIDTH:
        return one
    rows, row = [], ""
    for k, item in enumerate(items):
        piece = item + (separator if k + 1 < len(items) else "")
        if row and len(row) + len(piece) + 1 > WIDTH - 4:
            rows.append(row)
            row = piece
        else:
            row = f"{row} {piece}" if row else piece
    inside = "".join(f"\n    {r}{continued}" for r in [*rows, row])
    return f"{opening}{continued}{inside}\n{closing}"


def describe(function: Function) -> list[str]:
    """What goes in and out, one line each: name, shape, role and the names of the elements."""
    lines = []
    for block in function.inputs:
        names = f": {' '.join(block.names)}" if block.shape != () and block.size <= 100 else ""
        lines.append(f"{block.name} {shape_text(block.shape)}, {block.role.value}{names}")
    lines += [f"{o.name} {shape_text(o.shape)}, output" for o in function.outputs]
    return lines


def shape_text(shape: Sequence[int]) -> str:
    """
    >>> shape_text(()), shape_text((3,)), shape_text((2, 3))
    ('(scalar)', '(3)', '(2 x 3)')
    """
    return f"({' x '.join(map(str, shape)) or 'scalar'})"


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
