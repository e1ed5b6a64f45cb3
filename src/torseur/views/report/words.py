"""Sentences of a report in its language: terms, names, units, vectors, the data of records as lines; and what joints,
constraints, loads, blocks and methods are called, in English and French.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from torseur.describe import BASE, WORLD, formulas
from torseur.describe.fields import Record
from torseur.views.report.document import (
    Code,
    Formula,
    Inline,
    Language,
    Line,
    Paragraph,
    Strong,
    Table,
    Term,
    Text,
    Unit,
)
from torseur.views.report.formula_math import Symbols
from torseur.views.report.layout import set_words
from torseur.views.report.math import Fenced, Math, Row, Sign, Space, parsed
from torseur.views.report.phrases import translated
from torseur.views.report.terms import TERMS

__all__ = ["KINDS", "Words", "body_name", "data_line", "joined", "unit_line", "vector"]

KINDS: dict[str, dict[str, Term]] = {
    "joint": {
        "revolute": Term("revolute", "rotoïde"),
        "prismatic": Term("prismatic", "prismatique"),
        "fixed": Term("fixed", "encastrement"),
        "universal": Term("universal", "cardan"),
        "spherical": Term("spherical", "rotule"),
        "cylindrical": Term("cylindrical", "pivot glissant"),
        "planar": Term("planar", "appui plan"),
        "screw": Term("screw", "hélicoïdale"),
        "free": Term("free", "libre"),
        "free_rpy": Term("free (roll, pitch, yaw)", "libre (roulis, tangage, lacet)"),
    },
    "base": {
        "fixed": Term("fixed", "fixe"),
        "floating": Term("floating", "flottante"),
        "planar": Term("planar", "mobile dans le plan"),
        "moving": Term("moved in a given way", "animée d’un mouvement donné"),
        "carrier": Term("carried by six massless joints", "portée par six liaisons sans masse"),
    },
    "constraint": {
        "rolling": Term("rolling wheel", "roue roulante"),
        "contact": Term("unilateral contact", "contact unilatéral"),
        "no_side_slip": Term("no side slip", "sans glissement latéral"),
        "speeds": Term("relation of speeds", "relation entre vitesses"),
        "coupling": Term("coupling", "couplage"),
        "prescribed": Term("prescribed motion", "mouvement imposé"),
        "zero": Term("equation", "équation"),
    },
    "load": {
        "spring": Term("spring, damper, friction", "ressort, amortisseur, frottement"),
        "effort": Term("effort", "effort"),
        "transmission": Term("inertia of a drive", "inertie d’actionneur"),
        "motor": Term("motor", "moteur"),
        "wrench": Term("wrench", "torseur d’action"),
        "drag": Term("air drag", "traînée"),
        "tyre": Term("tyre", "pneumatique"),
        "air": Term("air forces", "efforts aérodynamiques"),
        "clutch": Term("clutch", "embrayage"),
    },
    "block": {
        "constant": Term("constant", "constante"),
        "step": Term("step", "échelon"),
        "ramp": Term("ramp", "rampe"),
        "sine": Term("sine", "sinus"),
        "sweep": Term("sweep", "balayage en fréquence"),
        "spline": Term("spline", "spline"),
        "table": Term("recorded signal", "signal enregistré"),
        "noise": Term("noise", "bruit"),
        "band_noise": Term("band-limited noise", "bruit à bande limitée"),
        "formula": Term("formula", "formule"),
        "move": Term("move", "déplacement"),
        "trapezoid": Term("trapezoidal move", "loi trapézoïdale"),
        "point_to_point": Term("point to point", "point à point"),
        "line": Term("straight line", "droite"),
        "circle": Term("circle", "cercle"),
        "pd": Term("PD controller", "correcteur PD"),
        "pid": Term("PID controller", "correcteur PID"),
        "computed_torque": Term("computed torque", "couple calculé"),
        "pd_regulator": Term("PD regulator with weights", "régulateur PD avec compensation des poids"),
        "operational_space": Term("operational space control", "commande dans l’espace opérationnel"),
        "resolved_acceleration": Term("resolved acceleration", "accélération résolue"),
        "resolved_rate": Term("resolved rate", "vitesse résolue"),
        "integral": Term("integrator", "intégrateur"),
        "lag": Term("first-order lag", "premier ordre"),
        "second_order": Term("second-order filter", "second ordre"),
        "transfer_function": Term("transfer function", "fonction de transfert"),
        "delay": Term("delay", "retard"),
        "rate_limit": Term("rate limit", "limiteur de vitesse"),
        "saturation": Term("saturation", "saturation"),
        "dead_zone": Term("dead zone", "zone morte"),
        "sampled": Term("sampled signal", "signal échantillonné"),
        "python": Term("Python function", "fonction Python"),
        "pose": Term("pose sensor", "capteur de situation"),
        "velocity": Term("velocity sensor", "capteur de vitesse"),
        "acceleration": Term("accelerometer", "accéléromètre"),
        "imu": Term("inertial unit", "centrale inertielle"),
        "force_sensor": Term("force sensor", "capteur d’effort"),
        "armature": Term("electric motor", "moteur électrique"),
        "force": Term("force", "effort"),
        "speed_control": Term("speed control", "régulateur de vitesse"),
        "path_follower": Term("path follower", "suivi de trajectoire"),
        "steering_pd": Term("steering PD controller", "correcteur PD de direction"),
        "wanted_acceleration": Term("wanted acceleration", "accélération demandée"),
        "measured": Term("measured value", "grandeur mesurée"),
        "encoder": Term("encoder", "codeur"),
        "dynamometric_wheel": Term("dynamometric wheel", "roue dynamométrique"),
        "actuator": Term("actuator", "actionneur"),
        "external": Term("external controller", "commande externe"),
        "crossing": Term("crossing", "franchissement"),
        "abs": Term("anti-lock braking system", "système antiblocage des roues"),
        "gear_shift": Term("gear shift", "changement de vitesse"),
        "tilt_pd": Term("tilt PD controller", "correcteur PD d’inclinaison"),
    },
    "solver": {
        "dop853": Term("the method of Dormand and Prince of order 8", "la méthode de Dormand et Prince d’ordre 8"),
        "dopri5": Term("the method of Dormand and Prince of order 5", "la méthode de Dormand et Prince d’ordre 5"),
        "rk4": Term("the classical Runge-Kutta method of order 4", "la méthode classique de Runge-Kutta d’ordre 4"),
        "rodas": Term("the Rosenbrock method RODAS 4(3)", "la méthode de Rosenbrock RODAS 4(3)"),
        "newmark": Term("the method of Newmark", "la méthode de Newmark"),
        "easydyn": Term(
            "the method of Newmark with the step control of EasyDyn",
            "la méthode de Newmark avec le contrôle du pas d’EasyDyn",
        ),
        "hht": Term("the method of Hilber, Hughes and Taylor", "la méthode de Hilber, Hughes et Taylor"),
        "generalised_alpha": Term("the generalised-α method", "la méthode α généralisée"),
    },
    "tyre": {
        "linear": Term("linear", "linéaire"),
        "burckhardt": Term("Burckhardt", "Burckhardt"),
        "pacejka_1987": Term("Magic Formula 1987", "Formule magique 1987"),
        "pacejka_1989": Term("Magic Formula 1989", "Formule magique 1989"),
        "magic_formula_52": Term("Magic Formula 5.2", "Formule magique 5.2"),
        "magic_formula_61": Term("Magic Formula 6.1", "Formule magique 6.1"),
        "dugoff": Term("Dugoff", "Dugoff"),
        "tmeasy": Term("TMeasy", "TMeasy"),
    },
}
"""Family -> kind -> its name. Kinds of other packages are shown under the name that files use."""


_PIECES = re.compile(r"(\{\w+\}|\$[^$]+\$)")


@dataclass(frozen=True)
class Words:
    """The words of one language."""

    language: Language

    def say(self, key: str, **given: Inline | Line | str) -> Line:
        """A term as a line; what is given stands where the term names it, and is never read as markup."""
        return self._line(getattr(TERMS[key], self.language.value), given)

    def paragraph(self, key: str, **given: Inline | Line | str) -> Paragraph:
        return Paragraph(self.say(key, **given))

    def table(
        self, caption: str | Line, heads: Sequence[str], rows: Iterable[tuple[Line, ...]], numeric: Iterable[int] = ()
    ) -> Table:
        """A table of terms and rows, without columns in which no row has anything."""
        head, cells = [self.say(key) if key else (Text(""),) for key in heads], list(rows)
        kept = [k for k in range(len(head)) if any(row[k] not in ((), (Text(""),)) for row in cells)]
        return Table(
            self.say(caption) if isinstance(caption, str) else caption,
            tuple(head[k] for k in kept),
            tuple(tuple(row[k] for k in kept) for row in cells),
            frozenset(kept.index(k) for k in numeric if k in kept),
        )

    def count(self, key: str, n: int) -> Line:
        """'3 bodies' or '1 body': the term has the plural, a bar, and the singular."""
        many, _, one = getattr(TERMS[key], self.language.value).partition("|")
        is_one = n == 1 or (n == 0 and self.language is Language.FRENCH)
        return self._line(one if is_one else many, {"n": str(n)})

    def phrase(self, text: str) -> Text:
        """What another module says."""
        return Text(set_words(translated(text, self.language), self.language))

    def kind(self, family: str, kind: str) -> Inline:
        """The name of a kind; one of another package is shown as files write it."""
        term = KINDS[family].get(kind)
        return Code(kind) if term is None else Text(getattr(term, self.language.value))

    def listed(self, items: Sequence[Inline | Line]) -> Line:
        """a, b and c."""
        lines = [item if isinstance(item, tuple) else (item,) for item in items]
        if len(lines) < 2:
            return lines[0] if lines else (Text("–"),)
        inlines: list[Inline] = []
        for k, line in enumerate(lines):
            if k:
                last = k == len(lines) - 1
                inlines += [Text(" "), *self.say("word.and"), Text(" ")] if last else [Text(", ")]
            inlines += line
        return tuple(inlines)

    def _line(self, text: str, given: dict[str, Inline | Line | str]) -> Line:
        inlines: list[Inline] = []
        for piece in _PIECES.split(set_words(text, self.language)):
            if piece.startswith("{"):
                value = given[piece[1:-1]]
                inlines += [Text(value)] if isinstance(value, str) else value if isinstance(value, tuple) else [value]
            elif piece.startswith("$"):
                inlines.append(Formula(parsed(piece[1:-1])))
            elif piece:
                inlines.append(Text(piece))
        return tuple(inlines)


_MOST_FIELDS = 12
"""Data of one load, constraint or block that a table shows."""


def vector(items: Sequence[Math]) -> Math:
    """A vector, written in a line."""
    inside: list[Math] = []
    for item in items:
        inside += [Sign(","), Space(), item] if inside else [item]
    return Fenced("(", Row(tuple(inside)), ")")


def unit_line(unit: str | None) -> Line:
    return (Unit(unit),) if unit else ()


def body_name(name: str, words: Words) -> Inline:
    """As it is called in the file; base and world in words."""
    return words.phrase(name) if name in (BASE, WORLD) else Code(name)


def joined(lines: Iterable[Line], between: str = ", ") -> Line:
    """Lines one after the other."""
    inlines: list[Inline] = []
    for line in lines:
        inlines += [Text(between), *line] if inlines else line
    return tuple(inlines)


def data_line(record: Record, symbols: Symbols, words: Words) -> Line:
    """The fields of a record that are not what they are by default, by the names that files use."""
    return _some(list(_fields(record, symbols, words)), words)


def _some(lines: Sequence[Line], words: Words) -> Line:
    """Not too many, and how many more there are."""
    left = len(lines) - _MOST_FIELDS
    more = [words.say("fields.more", n=str(left))] if left > 0 else []
    return joined([*lines[:_MOST_FIELDS], *more], "; ")


def _fields(record: Record, symbols: Symbols, words: Words) -> Iterator[Line]:
    for name, field in type(record).model_fields.items():
        value = getattr(record, name)
        if field.is_required() or value != field.default:
            yield Code(name), Text(" "), *_value(value, symbols, words)


def _value(value: object, symbols: Symbols, words: Words) -> Line:
    if isinstance(value, bool):
        return words.say("word.yes" if value else "word.no")
    if isinstance(value, (int, float, formulas.Formula)):
        return symbols.scalar(value)
    if isinstance(value, Record):
        kind = getattr(value, "kind", None)
        inside = data_line(value, symbols, words)
        head: Line = (Strong(kind), Text(" ")) if isinstance(kind, str) else ()
        return (*head, Text("("), *inside, Text(")")) if inside else head
    if isinstance(value, dict):
        return _some([(Code(str(k)), Text(" "), *_value(x, symbols, words)) for k, x in value.items()], words)
    if isinstance(value, tuple):
        return Text("("), *_some([_value(x, symbols, words) for x in value], words), Text(")")
    return (Code("–" if value is None else str(value)),)
