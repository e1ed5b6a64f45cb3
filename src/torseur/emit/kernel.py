"""A function as LLVM code: straight lines on lanes of states.

Every kernel has the signature ``void kernel(ptr in..., ptr out..., ptr scratch)``. Each pointer leads to an array of
values, a value being as wide as the lanes; one memory layout serves batches, calls between kernels and whole
integration loops. Long kernels are cut into chunks that pass values through scratch memory, since the time LLVM takes
for one piece of straight-line code grows faster than its length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from torseur.emit.instructions import Fused, Instructions, fused_sums, sincos
from torseur.emit.ir import Body, Kernel, Module
from torseur.emit.routines import write_routine
from torseur.graph import ops
from torseur.graph.blocks import Block
from torseur.graph.calls import Iteration
from torseur.graph.function import Function
from torseur.graph.nodes import Bundle, Node, Truth
from torseur.graph.routine import Loops

__all__ = ["CHUNK", "Place", "Sink", "write_function", "write_kernel"]

CHUNK = 1000
"""Nodes in one piece of straight-line code, products that are fused not counted."""

ANGLES = 32
"""Angles whose sine and cosine are in one piece: each pair is written out as some sixty instructions."""

COPIED = 4
"""Values one after the other that are copied at once."""

Place = tuple[str, int]
"""Where a value is: a pointer and how many values behind it."""

Operands = Mapping[int, Sequence[Node]]
"""What is read to compute a node, by its id."""

_TRIGONOMETRIC = (ops.SIN, ops.COS, ops.TAN)

_IN_PLACE = (ops.ITEM, ops.CALL, ops.SIN, ops.COS)
"""What leaves its results in memory by itself."""


@dataclass(frozen=True)
class Sink:
    """A value to be stored."""

    node: Node
    place: Place


@dataclass(frozen=True)
class _Home:
    """The part of an output that a call fills: nothing is copied but what does not belong there.

    Args:
        place: its first value.
        strays: items that something else takes the place of there; they are kept elsewhere.
        others: what is written there once the call is done.
    """

    place: Place
    strays: tuple[Node, ...]
    others: tuple[Node, ...]


@dataclass
class _Plan:
    """Which node is computed in which chunk, and where in scratch memory values wait between chunks."""

    chunks: list[list[Node]]
    frame: dict[int, int] = field(default_factory=dict)  # node id -> slot
    angles: dict[tuple[int, int], int] = field(default_factory=dict)  # (chunk, id of the angle) -> slot of its pair
    homes: dict[int, _Home] = field(default_factory=dict)  # id of a call -> where results want it to put them
    laid_out: dict[tuple[int, ...], int] = field(default_factory=dict)  # ids of a block of arguments -> where it is
    size: int = 0
    arguments: int = 0

    @property
    def end(self) -> int:
        """Where the scratch memory of what is called begins."""
        return self.size + self.arguments

    def take(self, slots: int) -> int:
        start = self.size
        self.size += slots
        return start


def write_function(module: Module, function: Function) -> Kernel:
    """A kernel that computes a whole function: one pointer per input block, one per output."""
    known = module.kernels.get(function.digest)
    if known is not None:
        return known
    sources = {
        symbol.id: (f"%in{k}", i) for k, block in enumerate(function.inputs) for i, symbol in enumerate(block.symbols)
    }
    sinks = [Sink(e, (f"%out{k}", i)) for k, output in enumerate(function.outputs) for i, e in enumerate(output.exprs)]
    pointers = [f"%in{k}" for k in range(len(function.inputs))] + [f"%out{k}" for k in range(len(function.outputs))]
    fused = fused_sums(function, staged=False)
    kernel = write_kernel(module, module.fresh(function.name), function.nodes, pointers, sources, sinks, fused)
    module.kernels[function.digest] = kernel
    return kernel


def write_kernel(
    module: Module,
    name: str,
    nodes: Iterable[Node],
    pointers: Sequence[str],
    sources: dict[int, Place],
    sinks: Sequence[Sink],
    fused: Mapping[int, Fused],
) -> Kernel:
    """A kernel for some nodes, given where its operands are found, where results go, and which sums are fused."""
    work = [n for n in nodes if n.id not in sources and n.op is not ops.CONST and n.op is not ops.TRUTH]
    operands = {n.id: fused[n.id].operands if n.id in fused else n.args for n in work}
    work = _needed(work, operands, sinks)
    plan = _plan(_trigonometry_first(work, operands), operands, _homes(work, operands, sinks))
    writer = _Writer(module, plan, dict(sources), sinks, fused)
    bodies = [writer.chunk(k) for k in range(len(plan.chunks))]
    signature = ", ".join(f"ptr noalias {p}" for p in [*pointers, "%scratch"])
    if len(bodies) == 1:
        module.define(f"void @{name}({signature})", bodies[0])
    else:
        caller = Body()
        for k, body in enumerate(bodies):
            module.define(f"void @{name}.{k}({signature})", body, "noinline")
            caller.do(f"call void @{name}.{k}({', '.join(f'ptr {p}' for p in [*pointers, '%scratch'])})")
        caller.do("ret void")
        module.define(f"void @{name}({signature})", caller)
    return Kernel(name, plan.end + writer.callee_scratch)


def _needed(nodes: list[Node], operands: Operands, sinks: Sequence[Sink]) -> list[Node]:
    """Without the products that are fused wherever they are used."""
    needed = {sink.node.id for sink in sinks}
    for node in reversed(nodes):
        if node.id in needed:
            needed.update([a.id for a in operands[node.id]])
    return [node for node in nodes if node.id in needed]


def _trigonometry_first(nodes: list[Node], operands: Operands) -> list[Node]:
    """Sines and cosines in groups, as early as they can be: a group shares one test for huge arguments.

    A group is a level: its arguments need no sine of their own level. What the arguments need goes before the group.
    """
    level: dict[int, int] = {}
    for node in nodes:
        top = max([level.get(a.id, 0) for a in operands[node.id]], default=0)
        level[node.id] = top + (node.op in _TRIGONOMETRIC)
    phase: dict[int, float] = {}
    for node in reversed(nodes):
        if node.op in _TRIGONOMETRIC:
            phase[node.id] = level[node.id]
        if node.id in phase:
            before = phase[node.id] - 0.5 if node.op in _TRIGONOMETRIC else phase[node.id]
            for a in operands[node.id]:
                phase[a.id] = min(phase.get(a.id, before), before)
    last = float("inf")
    return sorted(nodes, key=lambda n: (phase.get(n.id, last), n.id))


def _group(nodes: list[Node], start: int) -> list[Node]:
    """The sines and cosines that stand together from a place on and need none of each other."""
    group: dict[int, Node] = {}
    for k in range(start, len(nodes)):
        node = nodes[k]
        if node.op not in _TRIGONOMETRIC or node.args[0].id in group:
            break
        group[node.id] = node
    return list(group.values())


def _is_gated(node: Node) -> bool:
    """Whether a node is a call that is made only where it is wanted."""
    if not isinstance(node, Bundle):
        return False
    lowered = node.data.lowering()
    return node.data.is_gated or (isinstance(lowered, Loops) and lowered.is_gated)


def _cut(nodes: list[Node]) -> list[list[Node]]:
    """Pieces of so many nodes, or angles; both functions of an angle stay together."""
    chunks: list[list[Node]] = [[]]
    angles: set[int] = set()
    for node in nodes:
        angle = node.args[0].id if node.op in _TRIGONOMETRIC else None
        full = len(chunks[-1]) >= CHUNK or (angle is not None and len(angles) >= ANGLES)
        if full and angle not in angles:
            chunks.append([])
            angles = set()
        chunks[-1].append(node)
        if angle is not None:
            angles.add(angle)
    return chunks


def _homes(nodes: Sequence[Node], operands: Operands, sinks: Sequence[Sink]) -> dict[int, _Home]:
    """Of the routines in step most of whose results are an output, one after the other."""
    bundles = {n.id: n for n in nodes if isinstance(n, Bundle) and _is_in_step(n)}
    for node in nodes:
        for a in operands[node.id]:
            if node.op is not ops.ITEM:
                bundles.pop(a.id, None)  # what calls read lies in one piece
    wanted: dict[int, Counter[Place]] = {}
    for node, (pointer, slot) in ((sink.node, sink.place) for sink in sinks):
        if node.op is ops.ITEM and node.args[0].id in bundles:
            wanted.setdefault(node.args[0].id, Counter())[pointer, slot - node.data] += 1
    written = {sink.place: sink.node for sink in sinks}
    computed = {n.id for n in nodes}
    homes: dict[int, _Home] = {}
    taken: set[Place] = set()
    for key, places in wanted.items():
        ((pointer, start), count), size = places.most_common(1)[0], len(bundles[key])
        there = [(pointer, start + k) for k in range(size)]
        if 2 * count < size or any(place not in written or place in taken for place in there):
            continue
        taken.update(there)
        items = {n.data: n for n in nodes if n.op is ops.ITEM and n.args[0].id == key}
        fits = [written[place] is items.get(k) for k, place in enumerate(there)]
        strays = tuple(item for k, item in items.items() if not fits[k])
        others = tuple(written[p] for p, fit in zip(there, fits, strict=True) if not fit and written[p].id in computed)
        homes[key] = _Home((pointer, start), strays, others)
    return homes


def _is_in_step(bundle: Bundle) -> bool:
    lowered = bundle.data.lowering()
    return isinstance(lowered, Loops) and lowered.routine.in_step and len(lowered.outs) == 1


def _plan(nodes: list[Node], operands: Operands, homes: dict[int, _Home]) -> _Plan:
    chunks = _cut(nodes)
    plan = _Plan(chunks, homes=homes)
    last = {node.id: k for k, chunk in enumerate(chunks) for node in chunk}
    for k, chunk in enumerate(chunks):
        for node in chunk:
            for a in operands[node.id]:
                if a.id in last:
                    last[a.id] = k
    for other in (node for home in homes.values() for node in home.others):
        if other.id in last:
            last[other.id] = len(chunks)  # written when everything else is done
    _lay_out(plan, [n for chunk in chunks for n in chunk])
    # A chunk loads a value when it first needs it; if it is the last chunk to do so, the slot is free from there on.
    # What a call loads where it is wanted is not known behind it, and may be loaded again.
    free: list[int] = []
    ending: list[dict[int, int]] = [{} for _ in chunks]
    for k, chunk in enumerate(chunks):
        for node in chunk:
            loaded = () if _is_gated(node) else operands[node.id]
            free += [ending[k].pop(a.id) for a in loaded if a.id in ending[k]]
            if isinstance(node, Bundle):
                if node.id in homes:
                    plan.frame |= {item.id: plan.take(1) for item in homes[node.id].strays}
                else:
                    plan.frame[node.id] = plan.take(len(node))
                if not _is_in_step(node):
                    plan.arguments = max(plan.arguments, len(node.args))
                continue
            if node.op in _TRIGONOMETRIC and (k, node.args[0].id) not in plan.angles:
                plan.angles[k, node.args[0].id] = plan.take(2)
            if last[node.id] > k and node.op not in _IN_PLACE and node.id not in plan.frame:
                slot = plan.frame[node.id] = free.pop() if free else plan.take(1)
                if last[node.id] < len(chunks):
                    ending[last[node.id]][node.id] = slot
    return plan


def _is_zero(node: Node) -> bool:
    return node.op is ops.CONST and node.data == 0.0


def _lay_out(plan: _Plan, nodes: Sequence[Node]) -> None:
    """Places for the arguments of routines in step: they are put there where they are computed, and read from there."""
    computed = {node.id for node in nodes if node.op not in _IN_PLACE}
    for bundle in (n for n in nodes if isinstance(n, Bundle) and _is_in_step(n)):
        given = {a.id for a in bundle.args if isinstance(a, Bundle)}
        for ids in _argument_blocks(bundle):
            if ids not in plan.laid_out and ids[0] not in given:
                start = plan.laid_out[ids] = plan.take(len(ids))
                for k, id in enumerate(ids):
                    if id in computed:
                        plan.frame.setdefault(id, start + k)


def _argument_blocks(bundle: Bundle) -> Iterator[tuple[int, ...]]:
    """The ids of the arguments of each block; what another call gave fills one."""
    args = list(bundle.args)
    for block in bundle.data.lowering().inputs:
        size = 1 if isinstance(args[0], Bundle) else block.size
        yield tuple(a.id for a in args[:size])
        del args[:size]


class _Writer:
    """Writes chunks one after the other; remembers what is in memory."""

    def __init__(
        self,
        module: Module,
        plan: _Plan,
        places: dict[int, Place],
        sinks: Sequence[Sink],
        fused: Mapping[int, Fused],
    ) -> None:
        self.module, self.lanes, self.plan, self.places, self.fused = module, module.lanes, plan, places, fused
        self.sinks: dict[int, list[Sink]] = {}
        self.late: list[Sink] = []
        others = {node.id for home in plan.homes.values() for node in home.others}
        for sink in sinks:
            if sink.node.id in others:
                self.late.append(sink)
            else:
                self.sinks.setdefault(sink.node.id, []).append(sink)
        self.callee_scratch = 0
        self.blocks: set[tuple[int, ...]] = set()  # of arguments that are in their places
        self.body, self.number = Body(), 0
        self.values: dict[int, str] = {}

    def chunk(self, number: int) -> Body:
        self.body, self.values, self.number = Body(), {}, number
        nodes, k = self.plan.chunks[number], 0
        while k < len(nodes):
            group = _group(nodes, k)
            if group:
                self._trigonometry(group)
            else:
                self._node(nodes[k])
            k += max(1, len(group))
        if number == len(self.plan.chunks) - 1:
            for sinks in list(self.sinks.values()):
                if _is_zero(sinks[0].node):
                    self._clear(self.sinks.pop(sinks[0].node.id))
                else:
                    self._drain(sinks[0].node)
            for sink in self.late:
                self._store(sink.node, sink.place)
        self.body.do("ret void")
        return self.body

    def _node(self, node: Node) -> None:
        if isinstance(node, Bundle):
            self._call(node)
            return
        if node.op is ops.ITEM:
            if node.id not in self.places:
                pointer, slot = self.places[node.args[0].id]
                self.places[node.id] = (pointer, slot + node.data)
        else:
            self.values[node.id] = self._computed(node)
            if node.id in self.plan.frame:
                self._keep(node)
        self._drain(node)

    def _computed(self, node: Node) -> str:
        instructions, fused = Instructions(self.module, self.body), self.fused.get(node.id)
        if fused is None:
            return instructions.write(node, [self.value(a) for a in node.args])
        a, b, c = (self.value(x) for x in fused.operands)
        return instructions.multiply_add(a, b, c, fused.minus_product, fused.minus_rest)

    def _keep(self, node: Node) -> None:
        """Leave a value in memory for later chunks."""
        place = ("%scratch", self.plan.frame[node.id])
        self._store(node, place)
        self.places[node.id] = place

    def _drain(self, node: Node) -> None:
        """Store a value wherever it is wanted."""
        for sink in self.sinks.pop(node.id, ()):
            self._store(sink.node, sink.place)

    def _clear(self, sinks: Sequence[Sink]) -> None:
        """Zeros, run by run: LLVM takes quadratic time for thousands of single ones, as in a sparse matrix."""
        places = sorted(sink.place for sink in sinks)
        runs: list[tuple[Place, int]] = []
        for pointer, slot in places:
            if runs and runs[-1][0][0] == pointer and runs[-1][0][1] + runs[-1][1] == slot:
                runs[-1] = runs[-1][0], runs[-1][1] + 1
            else:
                runs.append(((pointer, slot), 1))
        clear = self.module.declare("void", "llvm.memset.p0.i64", ["ptr", "i8", "i64", "i1"])
        for (pointer, slot), length in runs:
            start = self.body.at(pointer, slot * self.lanes.size)
            self.body.do(f"call void @{clear}(ptr {start}, i8 0, i64 {length * self.lanes.size}, i1 false)")

    def _store(self, node: Node, place: Place) -> None:
        pointer, slot = place
        if isinstance(node, Bundle):
            source, start = self.places[node.id]
            for k in range(len(node)):
                self.body.store(self.lanes, self.body.load(self.lanes, source, start + k), pointer, slot + k)
            return
        value = self.value(node)
        if isinstance(node, Truth):
            real, one, zero = self.lanes.real, self.lanes.number(1.0), self.lanes.number(0.0)
            value = self.body.value(f"select {self.lanes.truth} {value}, {real} {one}, {real} {zero}")
        self.body.store(self.lanes, value, pointer, slot)

    def value(self, node: Node) -> str:
        """The name of a value in the current chunk, loaded if it is not there yet."""
        if node.op is ops.CONST:
            return self.lanes.number(node.data)
        if node.op is ops.TRUTH:
            return self.lanes.flag(node.data)
        found = self.values.get(node.id)
        if found is None:
            found = self.body.load(self.lanes, *self.places[node.id])
            if isinstance(node, Truth):
                found = self.body.value(f"fcmp one {self.lanes.real} {found}, {self.lanes.number(0.0)}")
            self.values[node.id] = found
        return found

    def _trigonometry(self, nodes: list[Node]) -> None:
        """One group: both functions of every angle go to memory, where the rare huge angles are done again."""
        pairs: dict[int, int] = {}
        for node in nodes:
            pairs[node.args[0].id] = self.plan.angles[self.number, node.args[0].id]
        arguments = {n.args[0].id: n.args[0] for n in nodes}
        sincos(self.module, self.body, [(self.value(arguments[i]), slot) for i, slot in pairs.items()])
        for node in nodes:
            slot = pairs[node.args[0].id]
            if node.op is ops.TAN:
                s, c = (self.body.load(self.lanes, "%scratch", slot + k) for k in (0, 1))
                self.values[node.id] = self.body.value(f"fdiv {self.lanes.real} {s}, {c}")
                if node.id in self.plan.frame:
                    self._keep(node)
            else:
                self.places[node.id] = ("%scratch", slot + (node.op is ops.COS))
            self._drain(node)

    # -- calls ---------------------------------------------------------------------------------------------------------
    def _call(self, bundle: Bundle) -> None:
        lowered = bundle.data.lowering()
        if bundle.id in self.plan.homes:
            self._call_at_home(bundle, lowered, self.plan.homes[bundle.id])
            return
        start = self.plan.frame[bundle.id]
        self.places[bundle.id] = ("%scratch", start)
        if isinstance(lowered, Iteration):
            kernel, blocks = _write_iteration(self.module, bundle.data.digest, lowered), lowered.start.inputs
            outs: list[Place] = [("%scratch", start)]
        elif isinstance(lowered, Loops):
            kernel, blocks = write_routine(self.module, lowered), lowered.inputs
            outs = [
                ("%scratch", start + end - size)
                for end, size in zip(accumulate(lowered.outs), lowered.outs, strict=True)
            ]
        else:
            kernel, blocks = write_function(self.module, lowered), lowered.inputs
            ends = accumulate(len(o.exprs) for o in lowered.outputs)
            outs = [("%scratch", start + end - len(o.exprs)) for end, o in zip(ends, lowered.outputs, strict=True)]
        if isinstance(lowered, Loops) and lowered.is_gated and not lowered.routine.internal:
            self._zero(outs, lowered.outs)
        if _is_gated(bundle):
            self._call_where_wanted(bundle, kernel, blocks, outs)
        else:
            self._call_kernel(kernel, blocks, bundle, outs)
        self.callee_scratch = max(self.callee_scratch, kernel.scratch)
        self._drain(bundle)

    def _call_at_home(self, bundle: Bundle, loops: Loops, home: _Home) -> None:
        """The results go where they are wanted; what has no place there is brought away."""
        kernel = write_routine(self.module, loops)
        self.places[bundle.id] = (pointer, start) = home.place
        self._call_kernel(kernel, loops.inputs, bundle, [home.place])
        self.callee_scratch = max(self.callee_scratch, kernel.scratch)
        for item in home.strays:
            self.places[item.id] = place = ("%scratch", self.plan.frame[item.id])
            value = self.body.load(self.lanes, pointer, start + item.data)
            self.body.store(self.lanes, value, *place)

    def _call_kernel(self, kernel: Kernel, blocks: Sequence[Block], bundle: Bundle, outs: Sequence[Place]) -> None:
        laid_out = self._laid_out(bundle) if _is_in_step(bundle) else self._arguments(blocks, list(bundle.args))
        places = [*laid_out, *outs, ("%scratch", self.plan.end)]
        names = [self.body.at(pointer, slot * self.lanes.size) for pointer, slot in places]
        self.body.do(f"call void @{kernel.name}({', '.join(f'ptr {name}' for name in names)})")

    def _zero(self, outs: Sequence[Place], sizes: Sequence[int]) -> None:
        for (pointer, slot), size in zip(outs, sizes, strict=True):
            for k in range(size):
                self.body.store(self.lanes, self.lanes.number(0.0), pointer, slot + k)

    def _call_where_wanted(
        self, bundle: Bundle, kernel: Kernel, blocks: Sequence[Block], outs: Sequence[Place]
    ) -> None:
        """A call that costs next to nothing where no lane wants it: not even its arguments are laid out."""
        body, lanes = self.body, self.lanes
        idle = body.value(f"fcmp olt {lanes.real} {self.value(bundle.args[0])}, {lanes.number(0.5)}")
        known = dict(self.values)
        with body.when(body.value(f"xor i1 {self.module.all_lanes(body, idle)}, true")):
            self._call_kernel(kernel, blocks, bundle, outs)
        self.values = known  # what was loaded inside the branch is not known behind it

    def _laid_out(self, bundle: Bundle) -> list[Place]:
        """The blocks of arguments of a routine in step: what is not in its place yet is put there."""
        args, places = iter(bundle.args), []
        for ids in _argument_blocks(bundle):
            if ids not in self.plan.laid_out:  # results of another call
                places.append(self.places[next(args).id])
                continue
            start, known = self.plan.laid_out[ids], ids in self.blocks
            sinks = [Sink(next(args), ("%scratch", start + k)) for k in range(len(ids))]
            if not known:
                self._clear([sink for sink in sinks if _is_zero(sink.node)])
                self._fill([sink for sink in sinks if not _is_zero(sink.node)])
            self.blocks.add(ids)
            places.append(("%scratch", start))
        return places

    def _fill(self, sinks: Sequence[Sink]) -> None:
        """Put values in their places; those that are one after the other in both are copied at once."""
        run: list[Sink] = []
        for sink in sinks:
            found = self.places.get(sink.node.id)
            if found == sink.place:
                continue
            if run and not self._follows(run, sink):
                self._copy(run)
                run = []
            run.append(sink)
        self._copy(run)

    def _follows(self, run: Sequence[Sink], sink: Sink) -> bool:
        old, new = self.places.get(run[-1].node.id), self.places.get(sink.node.id)
        if old is None or new is None or sink.node.op is not ops.ITEM or run[-1].node.op is not ops.ITEM:
            return False
        after = new == (old[0], old[1] + 1)
        return after and sink.place == (run[-1].place[0], run[-1].place[1] + 1)

    def _copy(self, run: Sequence[Sink]) -> None:
        if len(run) < COPIED:
            for sink in run:
                self._store(sink.node, sink.place)
            return
        copy = self.module.declare("void", "llvm.memcpy.p0.p0.i64", ["ptr", "ptr", "i64", "i1"])
        source, target = (
            self.body.at(pointer, slot * self.lanes.size)
            for pointer, slot in (self.places[run[0].node.id], run[0].place)
        )
        self.body.do(f"call void @{copy}(ptr {target}, ptr {source}, i64 {len(run) * self.lanes.size}, i1 false)")

    def _arguments(self, blocks: Sequence[Block], args: list[Node]) -> list[Place]:
        """Lay the arguments of a call out in memory, block by block; a bundle is there already and fills its block."""
        places, slot = [], self.plan.size
        for block in blocks:
            if args and isinstance(args[0], Bundle):
                places.append(self.places[args.pop(0).id])
                continue
            places.append(("%scratch", slot))
            for arg in args[: block.size]:
                self.body.store(self.lanes, self.value(arg), "%scratch", slot)
                slot += 1
            del args[: block.size]
        return places


def _write_iteration(module: Module, digest: str, loop: Iteration) -> Kernel:
    """A bounded loop; lanes that are done keep their state while the others go on."""
    known = module.kernels.get(digest)
    if known is not None:
        return known
    start, step, finish = (write_function(module, f) for f in (loop.start, loop.step, loop.finish))
    name, lanes, body = module.fresh("loop"), module.lanes, Body()
    ins = [f"%in{k}" for k in range(len(loop.start.inputs))]
    given = [f"ptr {p}" for p in ins]
    done, inner = 2 * loop.size, 2 * loop.size + 1
    state, after, flag, scratch = (
        f"ptr {body.at('%scratch', slot * lanes.size)}" for slot in (0, loop.size, done, inner)
    )
    body.do(f"call void @{start.name}({', '.join([*given, state, scratch])})")
    body.do("br label %again")
    body.label("again")
    body.do("%pass = phi i64 [ 1, %0 ], [ %next, %again ]")
    body.do(f"%done = phi {lanes.truth} [ {lanes.flag(False)}, %0 ], [ %finished, %again ]")
    body.do(f"call void @{step.name}({', '.join([state, *given, after, flag, scratch])})")
    for k in range(loop.size):
        old, new = body.load(lanes, "%scratch", k), body.load(lanes, "%scratch", loop.size + k)
        kept = body.value(f"select {lanes.truth} %done, {lanes.real} {old}, {lanes.real} {new}")
        body.store(lanes, kept, "%scratch", k)
    just = body.value(f"fcmp ogt {lanes.real} {body.load(lanes, '%scratch', done)}, {lanes.number(0.5)}")
    body.do(f"%finished = or {lanes.truth} %done, {just}")
    body.do("%next = add i64 %pass, 1")
    worn = body.value(f"icmp sge i64 %pass, {loop.limit}")
    stop = body.value(f"or i1 {worn}, {module.all_lanes(body, '%finished')}")
    body.do(f"br i1 {stop}, label %end, label %again")
    body.label("end")
    real, one, zero = lanes.real, lanes.number(1.0), lanes.number(0.0)
    body.store(lanes, body.value(f"select {lanes.truth} %finished, {real} {one}, {real} {zero}"), "%scratch", done)
    body.do(f"call void @{finish.name}({', '.join([state, flag, 'ptr %out0', scratch])})")
    body.do("ret void")
    module.define(f"void @{name}({', '.join(f'ptr noalias {p}' for p in [*ins, '%out0', '%scratch'])})", body)
    kernel = Kernel(name, inner + max(start.scratch, step.scratch, finish.scratch))
    module.kernels[digest] = kernel
    return kernel
