"""The block diagram of a study: signals from the left through controllers into the mechanism, sensors below it.

First what is connected to what: blocks, the mechanism, and the signals between them. Blocks stand in columns, each to
the right of what it uses; the mechanism is the last column. Blocks that are fed by the mechanism alone and feed others
(sensors) stand in a row below, on the way back. Every wire is one line, with its signals beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torseur.describe.annotations import NameUse, Thing, walk
from torseur.describe.fields import names_in
from torseur.emit.text.latex import unicode_symbol
from torseur.simulation.blocks import Block
from torseur.simulation.blocks.actuation import Controller, Force
from torseur.simulation.study.study import Study
from torseur.views.report.document import Code, Text
from torseur.views.report.pictures import Drawn
from torseur.views.report.words import Words
from torseur.views.scheme.svg import Sheet, Style, width_of

__all__ = ["MECHANISM", "MOST_BLOCKS", "Wire", "Wiring", "draw_diagram", "wiring"]

MECHANISM = ""
"""The name of the mechanism among blocks, which all have one."""


@dataclass(frozen=True)
class Wire:
    """Signals from one block to another."""

    source: str
    target: str
    signals: tuple[str, ...]


@dataclass(frozen=True)
class Wiring:
    """The blocks of a study by name, and the wires between them and the mechanism."""

    blocks: dict[str, Block]
    wires: tuple[Wire, ...]

    def into(self, name: str) -> tuple[Wire, ...]:
        return tuple(wire for wire in self.wires if wire.target == name)

    def out_of(self, name: str) -> tuple[Wire, ...]:
        return tuple(wire for wire in self.wires if wire.source == name)


def wiring(study: Study) -> Wiring:
    """The connections of a study."""
    blocks = {**study.inputs, **study.blocks}
    wires: dict[tuple[str, str], list[str]] = {}
    for name, block in blocks.items():
        for source, signal in _taken(study, blocks, name, block):
            _add(wires, source, name, signal)
        for signal in _driven(study, name, block):
            _add(wires, name, MECHANISM, signal)
    return Wiring(blocks, tuple(Wire(*ends, tuple(signals)) for ends, signals in wires.items()))


def _add(wires: dict[tuple[str, str], list[str]], source: str, target: str, signal: str) -> None:
    signals = wires.setdefault((source, target), [])
    if signal not in signals:
        signals.append(signal)


def _taken(study: Study, blocks: dict[str, Block], name: str, block: Block) -> Iterator[tuple[str, str]]:
    """What a block uses: the source and the signal of each."""
    model = study.model
    given = [x.name for x in (*model.q, *model.v)]
    known = {*given, *model.outputs, *model.quantities, *model.load_results, *study.outputs}
    for used in sorted(names_in(block)):
        if used in known:
            yield MECHANISM, used
        else:
            for other in blocks:
                if used == other or used.startswith(f"{other}_"):
                    yield other, used
                    break
    if isinstance(block, Controller):  # it knows the whole state
        yield from ((MECHANISM, signal) for signal in ("q", "v"))
    else:
        for use in walk(block):
            if isinstance(use, NameUse) and use.thing in (Thing.FRAME, Thing.COORDINATE, Thing.SPEED):
                yield MECHANISM, use.name
    if (joint := getattr(block, "joint", None)) is not None:
        yield MECHANISM, str(joint)


def _driven(study: Study, name: str, block: Block) -> Iterator[str]:
    """What of the mechanism a block drives."""
    if name in study.model.inputs:
        yield name
    if isinstance(block, Controller) and block.apply:
        yield from block.inputs or block.speeds or (f"{name}",)
    if isinstance(block, Force):
        yield block.speed


MOST_BLOCKS = 24
_INK, _FILLS = "#333333", {"plant": "#e3edf7", "block": "#ffffff", "back": "#eef5ea"}
_HEIGHT, _GAP, _CHANNEL, _MARGIN, _LANE = 46.0, 30.0, 26.0, 18.0, 17.0
_SIZE, _SMALL = 12.0, 10.5
_BOLD = 1.1
"""How much wider bold letters are."""
_MOST_SIGNALS = 3


@dataclass(frozen=True)
class _Box:
    """A block: its name, what it is, and where."""

    name: str
    title: str
    kind: str
    fill: str
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height


def draw_diagram(study: Study, words: Words) -> Drawn | None:
    """The diagram of a study; none where nothing drives it, or there are too many blocks to be read."""
    connections = wiring(study)
    if not connections.blocks or len(connections.blocks) > MOST_BLOCKS:
        return None
    plan = _Plan(study, connections, words)
    sheet = Sheet()
    for box in plan.boxes.values():
        _draw_box(sheet, box)
    wires = _Wires(plan, sheet)
    wires.draw()
    width, height = plan.size
    return Drawn("diagram", tuple(sheet.shapes), (width, max(height, wires.lowest + _MARGIN)), study.called)


def _draw_box(sheet: Sheet, box: _Box) -> None:
    corners = [(box.x, box.y), (box.right, box.y), (box.right, box.bottom), (box.x, box.bottom)]
    sheet.polyline(corners, Style(_INK, 1.4, _FILLS[box.fill]), closed=True)
    middle = 0.5 * (box.y + box.bottom)
    lines = [(box.title, True, _SIZE), (box.kind, False, _SMALL)] if box.kind else [(box.title, True, _SIZE)]
    for k, (text, bold, size) in enumerate(lines):
        y = middle + (k - 0.5 * (len(lines) - 1)) * 15.0
        wide = (_BOLD if bold else 0.95) * width_of(text, size)
        sheet.text((box.x + 0.5 * (box.width - wide), y), text, _INK, size=size, bold=bold)


class _Plan:
    """Where blocks stand."""

    def __init__(self, study: Study, connections: Wiring, words: Words) -> None:
        self.study, self.wiring, self.words = study, connections, words
        self.back = [n for n in connections.blocks if self._is_back(n)]
        forward = [n for n in connections.blocks if n not in self.back]
        self.columns = _columns(forward, [w for w in connections.wires if w.source in forward and w.target in forward])
        self.boxes = self._placed()

    def _is_back(self, name: str) -> bool:
        """Fed by the mechanism alone, not driving it."""
        sources = {w.source for w in self.wiring.into(name)}
        targets = {w.target for w in self.wiring.out_of(name)}
        return sources == {MECHANISM} and MECHANISM not in targets

    def kind(self, name: str) -> str:
        kind = self.words.kind("block", self.wiring.blocks[name].kind)
        return kind.text if isinstance(kind, (Text, Code)) else ""

    def _width(self, name: str) -> float:
        return max(_BOLD * width_of(name, _SIZE), width_of(self.kind(name), _SMALL), 60.0) + 18.0

    def _height(self, name: str) -> float:
        """Tall enough for the names of signals beside it."""
        wires = max(len(self.wiring.into(name)), len(self.wiring.out_of(name)))
        return max(_HEIGHT, _LANE * (wires + 1))

    def _channel(self, targets: Sequence[str]) -> float:
        """Room before a column for wires and the names of their signals."""
        labels = [label_of(w) for name in targets for w in self.wiring.into(name)]
        return _CHANNEL + max([width_of(label, _SMALL) for label in labels], default=0.0) + _LANE * min(len(labels), 6)

    def _placed(self) -> dict[str, _Box]:
        boxes: dict[str, _Box] = {}
        heights = [[self._height(name) for name in column] for column in self.columns]
        inside = max([sum(column) + _GAP * (len(column) - 1) for column in heights], default=0.0)
        height = max(inside, self._height(MECHANISM), _HEIGHT + 20.0)
        x, top = _MARGIN, _MARGIN + 10.0 + _LANE * sum(self.is_long(wire) for wire in self.wiring.wires)
        for column, tall in zip(self.columns, heights, strict=True):
            # The first column has a channel too, if the mechanism feeds it.
            fed = [n for n in column if self.wiring.into(n)]
            x += self._channel(fed) if fed or boxes else 0.0
            wide = max(self._width(name) for name in column)
            y = top + 0.5 * (height - sum(tall) - _GAP * (len(column) - 1))
            for name, size in zip(column, tall, strict=True):
                boxes[name] = _Box(name, name, self.kind(name), "block", x, y, wide, size)
                y += size + _GAP
            x += wide
        x += self._channel([MECHANISM])
        (title,) = (part.text for part in self.words.say("diagram.mechanism") if isinstance(part, Text))
        name = self.study.model.name
        wide = max(width_of(title, _SMALL), _BOLD * width_of(name, _SIZE), 80.0) + 24.0
        boxes[MECHANISM] = _Box(MECHANISM, name, title, "plant", x, top, wide, height)
        return boxes | self._row_back(x + wide, top + height)

    def is_long(self, wire: Wire) -> bool:
        """Whether a wire passes a column, and so must go around it above."""
        places = {name: k for k, column in enumerate(self.columns) for name in column} | {MECHANISM: len(self.columns)}
        ends = places.get(wire.source), places.get(wire.target)
        return wire.source != MECHANISM and None not in ends and ends[1] - ends[0] > 1  # type: ignore[operator]

    def _row_back(self, right: float, bottom: float) -> dict[str, _Box]:
        """Sensors in the way back, from the right to the left."""
        boxes: dict[str, _Box] = {}
        lanes = len([w for w in self.wiring.wires if w.source == MECHANISM and w.target not in self.back])
        labels = [width_of(label_of(w), _SMALL) for n in self.back for w in self.wiring.into(n)]
        y, end = bottom + _GAP + _LANE * (lanes + 1), right - max([*labels, 40.0])
        for name in self.back:
            wide = self._width(name)
            boxes[name] = _Box(name, name, self.kind(name), "back", end - wide, y, wide, _HEIGHT)
            y += _HEIGHT + _GAP
        self.lanes_from, self.foot = bottom + _GAP, y if self.back else bottom + _GAP + _LANE * max(lanes - 1, 0)
        return boxes

    @property
    def size(self) -> tuple[float, float]:
        plant = self.boxes[MECHANISM]
        lanes = sum(w.source == MECHANISM for w in self.wiring.wires) - len(self.back)
        right = plant.right + _MARGIN + _LANE * (lanes + len(self.back) + 1)
        return right, max(self.foot, plant.bottom) + _MARGIN


def _columns(names: Sequence[str], wires: Sequence[Wire]) -> list[list[str]]:
    """Blocks by the longest way to them; wires that close a circle do not count."""
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for wire in wires:
            if wire.source != wire.target:
                depth[wire.target] = max(depth[wire.target], min(depth[wire.source] + 1, len(names) - 1))
        # In a circle depths would grow without end: they stop at the number of blocks.
    levels = sorted(set(depth.values()))
    return [[name for name in names if depth[name] == level] for level in levels]


def label_of(wire: Wire) -> str:
    shown = [unicode_symbol(signal) for signal in wire.signals[:_MOST_SIGNALS]]
    return ", ".join(shown) + (f" +{len(wire.signals) - len(shown)}" if len(wire.signals) > len(shown) else "")


class _Wires:
    """Lines between blocks, each in a lane of its own."""

    def __init__(self, plan: _Plan, sheet: Sheet) -> None:
        self.plan, self.sheet = plan, sheet
        self.used: dict[str, int] = {}
        self.lane = 0
        self.outer = 0
        self.above = 0
        self.outs: dict[float, int] = {}
        self.channels: dict[float, int] = {}
        self.lowest = 0.0

    def draw(self) -> None:
        plan = self.plan
        for wire in plan.wiring.wires:
            if wire.source == MECHANISM and wire.target in plan.back:
                self._to_sensor(wire)
        for wire in plan.wiring.wires:
            if wire.source == MECHANISM or wire.source in plan.back:
                if wire.target not in plan.back:
                    self._back(wire)
            else:
                self._forward(wire)

    def _port(self, name: str) -> float:
        """The next free height on the left side of a box."""
        box, k = self.plan.boxes[name], self.used.get(name, 0)
        n = max(len(self.plan.wiring.into(name)), 1)
        self.used[name] = k + 1
        return box.y + box.height * (k + 1) / (n + 1)

    def _exit(self, name: str) -> float:
        box = self.plan.boxes[name]
        key = f">{name}"
        k, n = self.used.get(key, 0), max(len(self.plan.wiring.out_of(name)), 1)
        self.used[key] = k + 1
        return box.y + box.height * (k + 1) / (n + 1)

    def _turn(self, target: str) -> float:
        """Where in the channel before a column the next wire turns up or down."""
        x = self.plan.boxes[target].x
        k = self.channels.get(x, 0)
        self.channels[x] = k + 1
        label = max((width_of(label_of(w), _SMALL) for w in self._beside(x)), default=0.0)
        return x - label - 16.0 - _LANE * 0.55 * k

    def _beside(self, x: float) -> list[Wire]:
        return [w for w in self.plan.wiring.wires if self.plan.boxes[w.target].x == x]

    def _forward(self, wire: Wire) -> None:
        source, target = self.plan.boxes[wire.source], self.plan.boxes[wire.target]
        y1, y2 = self._exit(wire.source), self._port(wire.target)
        turn = self._turn(wire.target)
        if source.right > turn:  # against the order of columns: around below
            self._around(wire, source, y1, y2, turn, self._next_lane())
        elif self.plan.is_long(wire):
            self.above += 1
            self._around(wire, source, y1, y2, turn, _MARGIN + _LANE * (self.above - 1))
        else:
            self._line([(source.right, y1), (turn, y1), (turn, y2), (target.x, y2)], wire)

    def _around(self, wire: Wire, source: _Box, y1: float, y2: float, turn: float, lane: float) -> None:
        """Out of a block, along a lane above or below all, and in."""
        k = self.outs.get(source.right, 0)
        self.outs[source.right] = k + 1
        out, target = source.right + 8.0 + 5.0 * k, self.plan.boxes[wire.target]
        self._line([(source.right, y1), (out, y1), (out, lane), (turn, lane), (turn, y2), (target.x, y2)], wire)

    def _next_lane(self) -> float:
        self.lane += 1
        return self.plan.lanes_from + _LANE * (self.lane - 1)

    def _next_outer(self) -> float:
        self.outer += 1
        return self.plan.boxes[MECHANISM].right + _LANE * self.outer

    def _back(self, wire: Wire) -> None:
        """From the mechanism around below, or from a sensor to the left, into the channel before the target."""
        target = self.plan.boxes[wire.target]
        y2, turn = self._port(wire.target), self._turn(wire.target)
        if wire.source == MECHANISM:
            plant, out, y = self.plan.boxes[MECHANISM], self._next_outer(), self._next_lane()
            y1 = self._exit(MECHANISM)
            points = [(plant.right, y1), (out, y1), (out, y), (turn, y), (turn, y2), (target.x, y2)]
        else:
            sensor = self.plan.boxes[wire.source]
            y1 = sensor.y + 0.5 * sensor.height
            points = [(sensor.x, y1), (turn, y1), (turn, y2), (target.x, y2)]
        self._line(points, wire)

    def _to_sensor(self, wire: Wire) -> None:
        plant, sensor = self.plan.boxes[MECHANISM], self.plan.boxes[wire.target]
        out, y1, y2 = self._next_outer(), self._exit(MECHANISM), sensor.y + 0.5 * sensor.height
        self._line([(plant.right, y1), (out, y1), (out, y2), (sensor.right, y2)], wire)

    def _line(self, points: Sequence[tuple[float, float]], wire: Wire) -> None:
        """Through points, with an arrow at the end and the signals before it."""
        self.sheet.polyline(points, Style(_INK, 1.1))
        self.lowest = max(self.lowest, *(y for _, y in points))
        (x0, _), (x1, y1) = points[-2:]
        back = 7.0 if x1 > x0 else -7.0
        x = x1 - 9.0 - width_of(label_of(wire), _SMALL) if back > 0.0 else x1 + 9.0
        self.sheet.polyline(
            [(x1, y1), (x1 - back, y1 - 3.2), (x1 - back, y1 + 3.2)], Style(_INK, 0.6, _INK), closed=True
        )
        self.sheet.text((x, y1 - 7.0), label_of(wire), "#1f5fa8", size=_SMALL, italic=True)
