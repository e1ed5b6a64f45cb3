"""What a mechanism is: scheme, geometry, inertias, parameters, what ties and loads it, degrees of freedom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torseur.describe import BASE, Mechanism
from torseur.describe.bodies import Body, Coordinate
from torseur.describe.checks.scope import Scope
from torseur.describe.fields import Scalar
from torseur.describe.mechanism import Variable
from torseur.describe.place import Dh, Elementary, Mdh, Place, RigidPose
from torseur.errors import ModelError, NumericalError, TorseurError
from torseur.model.mobility import Mobility
from torseur.model.model import build
from torseur.views.report import document
from torseur.views.report.document import Block, Bullets, Code, Figure, Line, Section, Table, Text, Unit, Value
from torseur.views.report.formula_math import Symbols
from torseur.views.report.loads_section import LoadsPart
from torseur.views.report.math import Array, Fenced, Math, Row, Scripted, Sign, Space, Word
from torseur.views.report.pictures import Drawn, in_language
from torseur.views.report.words import Words, body_name, joined, unit_line, vector
from torseur.views.scheme import draw_scheme

__all__ = ["GeometryPart", "MechanismPart", "MobilityPart"]

_MDH, _DH = tuple(Mdh.model_fields), tuple(Dh.model_fields)
_FACTORS = {
    "mdh": (("Rz", "gamma"), ("Tz", "b"), ("Rx", "alpha"), ("Tx", "d"), ("Rz", "theta"), ("Tz", "r")),
    "dh": (("Rz", "theta"), ("Tz", "d"), ("Tx", "a"), ("Rx", "alpha")),
}


@dataclass(frozen=True)
class GeometryPart:
    """Tables of the geometry of a mechanism."""

    mechanism: Mechanism
    words: Words

    @property
    def symbols(self) -> Symbols:
        return Symbols.of(self.mechanism)

    # -- bodies and joints ---------------------------------------------------------------------------------------------
    def bodies(self) -> Iterator[Block]:
        bodies, w = self.mechanism.bodies, self.words
        if not bodies:
            return
        owned, rows = Scope(self.mechanism).by_owner, list[tuple[Line, ...]]()
        for name, body in bodies.items():
            axis: Line = () if body.joint.axis == "z" else (Text(" ("), *self._axis(body), Text(")"))
            own = joined([(self.symbols.name(x.name),) for x in owned.get(name, ())])
            joint: Line = (w.kind("joint", body.joint.kind), *axis)
            rows.append(((Code(name),), (body_name(body.parent, w),), joint, own))
        yield w.table("caption.bodies", ("head.body", "head.parent", "head.joint", "head.coordinates"), rows)
        yield from self._rows("mdh", _MDH)
        yield from self._rows("dh", _DH)
        others = {n: b.place for n, b in bodies.items() if b.place.mdh is None and b.place.dh is None}
        yield from self._places(others)

    def _axis(self, body: Body) -> Line:
        axis = body.joint.axis
        if isinstance(axis, str):
            return (document.Formula(Word(axis)),)
        return (document.Formula(vector([self.symbols.scalar_math(x) for x in axis])),)

    def _rows(self, form: str, fields: Sequence[str]) -> Iterator[Table]:
        """The bodies that are placed by one kind of parameters."""
        w, rows = self.words, list[tuple[Line, ...]]()
        for name, body in self.mechanism.bodies.items():
            row = getattr(body.place, form)
            if row is not None:
                cells = [self._offset(name, body, field, getattr(row, field)) for field in fields]
                rows.append(((Code(name),), (body_name(body.parent, w),), *cells))
        if rows:
            heads = tuple((self.symbols.name(field),) for field in fields)
            caption = w.say(f"caption.{form}", transforms=document.Formula(_product_of(form)))
            yield Table(caption, (w.say("head.body"), w.say("head.parent"), *heads), tuple(rows))

    def _offset(self, name: str, body: Body, field: str, value: Scalar) -> Line:
        """A parameter of a row; where the joint moves, its coordinate is added."""
        moving = {"revolute": "theta", "prismatic": "d" if body.place.dh is not None else "r"}.get(body.joint.kind)
        if field != moving or body.joint.axis != "z":
            return self.symbols.scalar(value)
        coordinate = self.symbols.math(next(x.name for x in self.mechanism.q if x.owner == name))
        if value == 0.0:
            return (document.Formula(coordinate),)
        return (document.Formula(Row((coordinate, Sign("+"), self.symbols.scalar_math(value)))),)

    def _places(self, places: Mapping[str, Place]) -> Iterator[Block]:
        if any(place.before for place in places.values()):
            rows = [((Code(name),), self._place(place)) for name, place in places.items()]
            yield self.words.table("caption.places", ("head.body", "head.place"), rows)

    def _place(self, place: Place) -> Line:
        factors = [*place.before, *place.after]
        if not factors:
            return self.words.say("place.identity")
        items: list[Math] = []
        for factor in factors:
            more = self._rotation(factor) if isinstance(factor, RigidPose) else self._factor(factor)
            items += [Space(), more] if items else [more]
        return (document.Formula(Row(tuple(items))),)

    def _rotation(self, pose: RigidPose) -> Math:
        scalar = self.symbols.scalar_math
        if pose.matrix is not None:
            return Array(tuple(tuple(scalar(x) for x in row) for row in pose.matrix), "[", "]")
        return Row((Word("R"), vector([scalar(x) for x in pose.quaternion or ()])))

    def _factor(self, factor: Elementary) -> Math:
        if factor.rn is not None:
            axis = vector([self.symbols.scalar_math(x) for x in factor.rn.axis])
            return _elementary("R", axis, self.symbols.scalar_math(factor.rn.angle))
        kind = next(k for k in Elementary.model_fields if getattr(factor, k) is not None)
        return _elementary(kind[0].upper(), Word(kind[1]), self.symbols.scalar_math(getattr(factor, kind)))

    def frames(self) -> Iterator[Block]:
        w = self.words
        every = [(BASE, self.mechanism.base.frames), *((n, b.frames) for n, b in self.mechanism.bodies.items())]
        rows = [
            ((Code(name),), (body_name(body, w),), self._place(frame.place))
            for body, frames in every
            for name, frame in frames.items()
        ]
        if rows:
            yield w.table("caption.frames", ("head.frame", "head.body", "head.frame_place"), rows)

    # -- coordinates ---------------------------------------------------------------------------------------------------
    def variables(self) -> Iterator[Block]:
        w, m = self.words, self.mechanism
        if m.q:
            heads = ("head.coordinate", "head.unit", "head.body", "head.meaning", "head.start", "head.range")
            yield w.table("caption.coordinates", heads, [self._coordinate(x) for x in m.q])
        own = [x for x in m.v if x.rate_of is None]
        if own:
            rows = [(*self._named(x), (w.phrase(x.meaning),)) for x in own]
            yield w.table("caption.speeds", ("head.speed", "head.unit", "head.body", "head.meaning"), rows)

    def _named(self, x: Variable) -> tuple[Line, ...]:
        return (self.symbols.name(x.name),), unit_line(x.unit), (body_name(x.owner, self.words),)

    def _coordinate(self, x: Variable) -> tuple[Line, ...]:
        meaning = (self.words.phrase(x.meaning),)
        return *self._named(x), meaning, self.symbols.scalar(x.start), self._range(_described(self.mechanism, x))

    def _range(self, known: Coordinate) -> Line:
        lower, upper = (None if x is None else self.symbols.scalar(x) for x in (known.lower, known.upper))
        if lower is not None and upper is not None:
            return self.words.say("coordinate.from_to", lower=lower, upper=upper)
        if lower is not None:
            return self.words.say("coordinate.from", lower=lower)
        return () if upper is None else self.words.say("coordinate.up_to", upper=upper)


def _elementary(letter: str, axis: Math, amount: Math) -> Math:
    return Row((Scripted(Word(letter), below=axis), Fenced("(", amount, ")")))


def _product_of(form: str) -> Math:
    """The transforms that the parameters of a row stand for."""
    symbols, items = Symbols(), list[Math]()
    for kind, name in _FACTORS[form]:
        factor = _elementary(kind[0], Word(kind[1]), symbols.math(name))
        items += [Space(), factor] if items else [factor]
    return Row(tuple(items))


def _described(mechanism: Mechanism, x: Variable) -> Coordinate:
    tables = [mechanism.base.coordinates, mechanism.coordinates]
    if x.owner in mechanism.bodies:
        tables.insert(0, mechanism.bodies[x.owner].joint.coordinates)
    return next((table[x.name] for table in tables if x.name in table), Coordinate())


@dataclass(frozen=True)
class MechanismPart:
    """Writes the section on a mechanism.

    Args:
        mechanism: what it is about.
        words: in which language.
        parameters: values of a study in place of those of the mechanism.
    """

    mechanism: Mechanism
    words: Words
    parameters: Mapping[str, float]

    def section(self) -> Section:
        geometry, rest = GeometryPart(self.mechanism, self.words), LoadsPart(self.mechanism, self.words)
        parts = {
            "section.bodies": [*geometry.bodies(), *geometry.frames()],
            "section.coordinates": geometry.variables(),
            "section.inertia": rest.inertias(),
            "section.parameters": rest.parameters(self.parameters),
            "section.ties": rest.ties(),
            "section.loads": [*rest.loads(), *rest.signals()],
        }
        blocks_by_part = {key: tuple(blocks) for key, blocks in parts.items()}
        inner = [Section(self.words.say(key), blocks, 2) for key, blocks in blocks_by_part.items() if blocks]
        return Section(self.words.say("section.mechanism"), (*self.opening(), *inner))

    def opening(self) -> Iterator[Block]:
        """What it is as a whole, and its scheme."""
        m, w = self.mechanism, self.words
        yield w.paragraph(
            "mechanism.count",
            bodies=w.count("count.bodies", len(m.bodies)),
            base=w.kind("base", m.base.kind.value),
            q=w.count("count.q", len(m.q)),
            v=w.count("count.v", len(m.v)),
        )
        if any(component != 0.0 for component in m.gravity):
            symbols = Symbols.of(m)
            gravity = document.Formula(vector([symbols.scalar_math(x) for x in m.gravity]))
            yield w.paragraph("mechanism.gravity", vector=gravity, unit=Unit("m/s2"))
        else:
            yield w.paragraph("mechanism.no_gravity")
        yield from self._scheme()
        if m.notes:
            yield w.paragraph("mechanism.notes")
            yield Bullets(tuple((w.phrase(note),) for note in m.notes))

    def _scheme(self) -> Iterator[Block]:
        w = self.words
        try:
            picture = draw_scheme(self.mechanism, parameters=self.parameters, titled=False)
        except TorseurError as error:
            yield w.paragraph("mechanism.no_scheme", why=w.phrase(error.what))
            return
        caption = list(w.say("caption.scheme"))
        for note in picture.notes:
            shown = w.phrase(note).text
            caption.append(Text(f" {shown[:1].upper()}{shown[1:]}."))
        shapes = in_language(picture.shapes, w.language)
        yield Figure(tuple(caption), Drawn("scheme", shapes, picture.size, self.mechanism.name))


@dataclass(frozen=True)
class MobilityPart:
    """Writes the section on degrees of freedom.

    Args:
        mechanism: whose they are.
        words: in which language.
        parameters: values of a study.
    """

    mechanism: Mechanism
    words: Words
    parameters: Mapping[str, float]

    def section(self) -> Section:
        return Section(self.words.say("section.mobility"), tuple(self._blocks()))

    def _blocks(self) -> Iterator[Block]:
        w, m = self.words, self.mechanism
        if m.is_tree:
            yield w.paragraph("mobility.tree", n=w.count("count.freedoms", len(m.v)))
            return
        try:
            mobility = build(m).mobility(parameters=dict(self.parameters) or None)
        except (ModelError, NumericalError) as error:
            why = f"{error.what}{f': {error.got}' if error.got else ''}."
            yield w.paragraph("mobility.not_computed", why=Text(why))
            return
        yield from self._found(mobility)

    def _found(self, mobility: Mobility) -> Iterator[Block]:
        w = self.words
        yield w.paragraph(
            "mobility.closed",
            v=w.count("count.v", mobility.nv),
            rows=w.count("count.rows", len(mobility.rows)),
            rank=Value(mobility.usual_rank),
            n=w.count("count.freedoms", mobility.freedoms),
        )
        more = mobility.free_coordinates - (mobility.nv - mobility.rank)
        if more > 0:
            yield w.paragraph("mobility.nonholonomic", more=Value(more), coordinates=Value(mobility.free_coordinates))
        for key, rows in (("redundant", mobility.redundant), ("contradictory", mobility.contradictory)):
            if rows and not (key == "redundant" and mobility.is_singular):
                owners = dict.fromkeys(row.asked_by.name for row in rows)
                yield w.paragraph(f"mobility.{key}", names=w.listed([Code(name) for name in owners]))
        if mobility.is_singular:
            yield w.paragraph("mobility.singular")
        if mobility.massless:
            symbols = Symbols.of(self.mechanism)
            yield w.paragraph("mobility.massless", names=w.listed([symbols.name(x) for x in mobility.massless]))
