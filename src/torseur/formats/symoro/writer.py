"""Writing .par files, in the dialect of OpenSYMORO.

A file holds a tree of revolute, prismatic and fixed joints placed by modified Denavit-Hartenberg rows, with standard
inertias; loops cut at such joints; friction, springs and inertia of joints, efforts, wrenches at frames; a base that is
fixed, planar or floating. Parameters are symbols without values: those that have one are written as numbers. Poses and
inertias of other forms are turned into these. Units, descriptions and notes are left out. Names of bodies, frames,
loads and, where they would not be recognised, of coordinates change. Anything else is an error, or left out where that
is asked for and something is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from torseur.describe.bodies import BASE, BaseKind
from torseur.describe.evaluation import with_numbers
from torseur.describe.faults import listed
from torseur.describe.fields import Scalar, names_in
from torseur.describe.formulas import Formula
from torseur.describe.inertia import StandardInertia
from torseur.describe.loads import Effort, Load, SpringDamper, Transmission, Wrench
from torseur.describe.mechanism import Mechanism
from torseur.formats.expressions import minus, spelled, tokenize, turned
from torseur.formats.format import Losses
from torseur.formats.symoro.layout import Item, check_plain, in_standard_form, items, number
from torseur.formats.symoro.par_file import FRAME_KEYS, IDENTITY, INERTIA, JOINT_KEYS, LINK_KEYS, WRENCH
from torseur.formats.symoro.rows import COORDINATE, PLACE_KEYS

__all__ = ["write_par"]

_FOREIGN = re.compile(r"\b(?:min|max|floor|pow|if|t|table)\b|[<>=]")
_FORMULA = "a formula with min, max, floor, pow, if, t, a table or a comparison cannot be written"
_OF_LOADS = ("IA", "FV", "FS", "k", "GAM", *WRENCH)
_SPEEDS = {"V0": "v", "W0": "w", "VP0": "vp", "WP0": "wp"}


def write_par(mechanism: Mechanism, losses: Losses | None = None) -> str:
    """The text of a .par file; a `ModelError` that names everything such a file cannot hold.

    Args:
        mechanism: what to write.
        losses: says whether what cannot be written is left out, and keeps what was.
    """
    losses = losses or Losses()
    valued = [name for name, parameter in mechanism.parameters.items() if parameter.value is not None]
    if valued:
        losses.note(f"parameters with a value are written as numbers: {listed(valued)}")
    mechanism = in_standard_form(with_numbers(mechanism))
    tree, first, second = items(mechanism, losses)
    _check_rest(mechanism, losses)
    losses.stop_if_refused()
    page = _Page(mechanism, number(tree, first, second), len(tree), len(first), losses)
    text = page.text()
    losses.stop_if_refused()
    return text


def _is_foreign(value: Scalar) -> bool:
    return isinstance(value, Formula) and _FOREIGN.search(value.text) is not None


def _check_rest(mechanism: Mechanism, losses: Losses) -> None:
    if not mechanism.bodies:
        losses.refuse(
            "bodies", "a mechanism without bodies cannot be written: such a file lists its frames", "add a body"
        )
    for kind in ("constraints", "outputs"):
        for name in getattr(mechanism, kind):
            losses.add(f"{kind}.{name}", f"{kind} cannot be written", moves=kind == "constraints")
    for name in mechanism.coordinates:
        losses.refuse(f"coordinates.{name}", "free-form kinematics cannot be written")
    base = mechanism.base
    if base.kind in (BaseKind.MOVING, BaseKind.CARRIER):
        losses.refuse("base.kind", f"a {base.kind.value} base cannot be written")
    if base.shapes:
        losses.add("base.shapes", "shapes cannot be written")
    for key, record in base.coordinates.items():
        check_plain(record, f"base.coordinates.{key}", losses)
    if base.coordinates and tuple(base.coordinates) != base.default_names:
        losses.add("base.coordinates", "other names for the coordinates of the base cannot be written")
    if base.inertia is not None and base.kind is BaseKind.FIXED:
        losses.add("base.inertia", "inertia of a fixed base cannot be written")
    elif base.inertia is not None and not isinstance(base.inertia, StandardInertia):
        losses.refuse("base.inertia", "such formulas of an inertia at the centre of mass cannot be written")
    place = base.place
    if place.mdh or place.dh or place.steps or (place.pose and (place.pose.rpy or place.pose.quaternion)):
        losses.refuse("base.place", "such formulas of a pose cannot be written", "give position and rotation matrix")
    if place.pose and names_in(place.pose.matrix):
        losses.refuse("base.place.pose.matrix", "a base turned by an unknown angle cannot be written", "give numbers")
    for name in (*mechanism.parameters, *mechanism.inputs):
        if name.lower() == "pi":
            losses.refuse(name, "a symbol of this name cannot be written: there it means 3.14159...", "rename it")
    for name, signal in mechanism.inputs.items():
        if signal.default != 0.0:
            losses.add(f"inputs.{name}.default", "a default of an input cannot be written")


class _Page:
    """The vectors of the file, filled as the mechanism is gone through."""

    def __init__(self, mechanism: Mechanism, frames: list[Item], links: int, loops: int, losses: Losses) -> None:
        self.mechanism, self.frames, self.losses = mechanism, frames, losses
        self.links, self.joints = links, links + loops
        self.used: set[str] = set()
        # A frame may serve in the tree and in loops: what is written last here, the tree, is what loads refer to.
        self.numbers = {item.name: item.number for item in reversed(frames)} | {BASE: 0}
        self.owners = {item.coordinate: item.number for item in frames if item.coordinate is not None}
        self.spelling = self._coordinates()
        base = mechanism.base
        self.is_floating = base.kind is BaseKind.FLOATING and base.orientation == "quaternion"
        on_base = any(isinstance(load, Wrench) and load.frame == BASE for load in mechanism.loads.values())
        has_link_0 = base.kind is not BaseKind.FIXED and (base.inertia is not None or on_base)
        self.is_mobile = has_link_0 and not self.is_floating
        self.cells: dict[str, dict[int, str]] = {key: {} for key in (*FRAME_KEYS, *LINK_KEYS, *JOINT_KEYS)}

    def _coordinates(self) -> dict[str, str]:
        """How coordinates and their rates are called in the file."""
        spelling: dict[str, str] = {}
        taken = {*self.mechanism.parameters, *self.mechanism.inputs}
        kept = {item.coordinate for item in self.frames if item.coordinate and COORDINATE.fullmatch(item.coordinate)}
        for item in self.frames:
            if item.coordinate is None:
                continue
            names = [f"{stem}{item.number}" for stem in ("q", "t", "th", "r")]
            free = [name for name in names if name not in taken | kept]
            spelling[item.coordinate] = item.coordinate if item.coordinate in kept else free[0] if free else names[0]
            spelling[f"d{item.coordinate}"] = f"QP{item.number}"
            if (item.coordinate not in kept and not free) or f"QP{item.number}" in taken:
                remedy = f"rename the parameter or input q{item.number} or QP{item.number}"
                self.losses.refuse(f"coordinates.{item.coordinate}", "its name in the file is taken", remedy)
        return spelling

    # -- values --------------------------------------------------------------------------------------------------------
    def word(self, value: Scalar, where: str) -> str:
        """A scalar as the file writes it."""
        if not isinstance(value, Formula):
            return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
        if _is_foreign(value):
            self.losses.refuse(where, _FORMULA)
        self.used |= value.names
        return spelled(tokenize(value.text), {**self.spelling, "deg": "(pi/180)"})

    def put(self, key: str, item: int, value: Scalar, where: str) -> None:
        """A value into its cell; loads on one joint add up."""
        if value == 0.0:
            return
        if key in _OF_LOADS and _is_foreign(value):
            self.losses.add(where, _FORMULA)
            return
        word, before = self.word(value, where), self.cells[key].get(item)
        self.cells[key][item] = word if before is None else f"{before} + ({word})"

    # -- contents ------------------------------------------------------------------------------------------------------
    def text(self) -> str:
        loops = self.joints - self.links
        is_chain = all(item.number == k and self.numbers[item.parent] == k - 1 for k, item in enumerate(self.frames, 1))
        title = re.sub(r"['*()\n\r]", " ", self.mechanism.title or self.mechanism.name).strip()
        lines = [f"(* Robotname = '{title}' *)", f"NL = {self.links}", f"NJ = {self.joints}"]
        lines += [f"NF = {len(self.frames)}", f"Type = {2 if loops else 0 if is_chain else 1}"]
        lines += [f"is_floating = {int(self.is_floating)}", f"is_mobile = {int(self.is_mobile)}"]
        for item in self.frames:
            self._frame(item)
        for name, load in self.mechanism.loads.items():
            self._load(load, f"loads.{name}")
        base = self._base()
        first = 0 if self.is_floating or self.is_mobile else 1
        lines += ["", "(* Geometric parameters *)", *self._vectors(FRAME_KEYS, 1, len(self.frames))]
        lines += ["", "(* Dynamic parameters; FX..CZ is what the robot does to its surroundings *)"]
        lines += self._vectors(LINK_KEYS, first, self.links)
        lines += ["", "(* Joint parameters *)", *self._vectors(JOINT_KEYS, 1, self.joints)]
        lines += ["", "(* Base *)", *base, "", "(* End of definition *)", ""]
        self._check_used()
        return "\n".join(lines)

    def _vectors(self, keys: Iterable[str], first: int, last: int) -> list[str]:
        return [f"{key} = {{{','.join(self.cells[key].get(j, '0') for j in range(first, last + 1))}}}" for key in keys]

    def _frame(self, item: Item) -> None:
        j, where = item.number, f"frame {item.name}"
        self.cells["ant"][j] = str(self.numbers[item.parent])
        self.cells["sigma"][j] = str(item.sigma)
        for key in PLACE_KEYS:
            self.put(key, j, getattr(item.place, key), f"{where}.place.{key}")
        follows = names_in(item.place) & {x.name for x in self.mechanism.q}
        if follows and (item.is_body or item.sigma != 2):
            remedy = "only the place of a named frame may depend on coordinates"
            self.losses.refuse(f"{where}.place", "a moving place of a body or loop cannot be written", remedy)
        if item.sigma != 2:
            self._join(item)
        for key in INERTIA if item.inertia is not None else ():
            self.put(key, j, getattr(item.inertia, key), f"bodies.{item.name}.inertia.{key}")

    def _join(self, item: Item) -> None:
        """Add the coordinate to theta or r."""
        key = ("theta", "r")[item.sigma]
        coordinate = self.spelling[item.coordinate] if item.coordinate is not None else f"q{item.number}"
        offset = self.cells[key].get(item.number)
        rest = getattr(item.place, key)
        if isinstance(rest, Formula) and any(COORDINATE.fullmatch(name) for name in rest.names):
            where = f"frame {item.name}.place.{key}"
            self.losses.refuse(
                where, "an offset with a symbol like a coordinate cannot be written", "rename the parameter"
            )
        if offset is not None:
            coordinate += f" - {offset[1:]}" if offset.startswith("-") else f" + {offset}"
        self.cells[key][item.number] = coordinate
        if item.is_body:
            self.cells["QP"][item.number] = f"QP{item.number}"
            self.cells["QDP"][item.number] = f"QDP{item.number}"

    # -- loads ---------------------------------------------------------------------------------------------------------
    def _load(self, load: Load, where: str) -> None:
        if isinstance(load, Wrench):
            self._wrench(load, where)
            return
        coordinate = getattr(load, "coordinate", None)
        j = self.owners.get(coordinate) if coordinate is not None else None
        if j is None or not isinstance(load, (SpringDamper, Effort, Transmission)):
            self.losses.add(where, f"a load of kind '{load.kind}' as it is here cannot be written", moves=True)
        elif isinstance(load, SpringDamper):
            self._spring(load, j, where)
        elif isinstance(load, Effort):
            if load.value == 0.0:
                self.losses.add(f"{where}.value", "an effort of zero cannot be written")
            elif not _is_foreign(load.value):
                self.cells["mu"][j] = "1"
            self.put("GAM", j, load.value, f"{where}.value")
        else:
            self.put("IA", j, load.inertia, f"{where}.inertia")

    def _spring(self, load: SpringDamper, j: int, where: str) -> None:
        self.put("FV", j, load.damping, f"{where}.damping")
        self.put("FS", j, load.friction, f"{where}.friction")
        if load.rest != 0.0 and load.stiffness != 0.0:
            self.losses.add(f"{where}.rest", "a spring at rest anywhere but at zero cannot be written", moves=True)
        elif load.stiffness != 0.0:
            self.put("k", j, load.stiffness, f"{where}.stiffness")
            self.cells["eta"][j] = "1"

    def _wrench(self, load: Wrench, where: str) -> None:
        j = self.numbers.get(load.frame)
        if load.axes != "frame" or j is None or j > self.links or (j == 0 and not (self.is_floating or self.is_mobile)):
            remedy = "give it at a frame of the tree, in the axes of that frame"
            self.losses.add(where, "this wrench cannot be written", remedy, moves=True)
            return
        for key, value in zip(WRENCH, (*load.force, *load.torque), strict=True):
            self.put(key, j, minus(value), where)

    # -- base ----------------------------------------------------------------------------------------------------------
    def _base(self) -> list[str]:
        base, pose = self.mechanism.base, self.mechanism.base.place.pose
        for key in INERTIA if base.inertia is not None else ():
            self.put(key, 0, getattr(base.inertia, key), f"base.inertia.{key}")
        matrix = pose.matrix if pose is not None and pose.matrix is not None else IDENTITY
        position = pose.position if pose is not None else (0.0, 0.0, 0.0)
        entries = [x for row, p in zip(matrix, position, strict=True) for x in (*row, p)]
        gravity = turned(list(zip(*matrix, strict=True)), self.mechanism.gravity)
        if base.kind is not BaseKind.FIXED and sum(isinstance(x, Formula) and bool(x.names) for x in gravity) > 1:
            self.losses.refuse("gravity", "gravity of several symbols under a moving base cannot be written")
        free = {info.suffix for info in base.joint_kind.speeds}
        vectors = {
            key: [f"{stem}{axis}" if f"{stem[0]}{axis}" in free else "0" for axis in "xyz"]
            for key, stem in _SPEEDS.items()
        }
        vectors["G"] = [self.word(x, "gravity") for x in gravity]
        vectors["Z"] = [*(self.word(x, "base.place") for x in entries), "0", "0", "0", "1"]
        return [f"{key} = {{{','.join(words)}}}" for key, words in vectors.items()]

    def _check_used(self) -> None:
        for name in self.mechanism.parameters:
            if name not in self.used:
                self.losses.add(f"parameters.{name}", "a parameter that is used nowhere cannot be written")
        for name in self.mechanism.inputs:
            if name not in self.used:
                self.losses.add(f"inputs.{name}", "an input that drives nothing cannot be written")
