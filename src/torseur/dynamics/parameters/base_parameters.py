"""Base parameters: the fewest combinations of the standard parameters that the motion depends on.

Annex A of Maakaroun after Gautier & Khalil 1990: the energy of a mechanism is linear in K, and what makes no difference
to it need not be known. Here the closed rules are derived joint by joint, for every kind of joint and every tree.

An inertia K on link j may as well sit on the parent link p, as X K (X: seen from p at q = 0), if for all motions

    (a)  S_i' I(K) S_l = 0          the joint's own speeds do not meet it,
    (b)  S_i' I(K) V   = 0          nor do they together with any velocity V that the parent can give the link,
    (c)  X(q) K - X K               has no energy on p, whatever q.

With C_p the rows such that C_p K = 0 if and only if K has no energy on p, whatever its motion, and A_i the rate at
which X(q) K changes along column i of the joint, (c) says C_p X A_i A_l ... K = 0 for all products of one or more of
them. All conditions are linear in K. On a fixed world C_p is the one row that weighs MS along gravity, and V = 0: that
is how the rules of annex A grow into those for the first joints, for axes parallel to each other and to gravity, and
for chains of slides. Where a parent can move at will, (a)-(c) leave XX + YY, MZ, M of a revolute joint (A.4) and the
tensor of a slide (A.5). An inertia of the drive (IA, or JM on the parent) adds to (a) and (b) and is regrouped alike.

What is regrouped goes to the parent, from the tips to the base; what reaches the world has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.dynamics.parameters.dependence import Elimination, Row
from torseur.dynamics.parameters.regressor import TEN, StandardParameter, standard_parameters
from torseur.dynamics.tree.tree import Link, Tree
from torseur.graph import Expr
from torseur.spatial.inertia import Inertia
from torseur.spatial.pose import Motion, Pose
from torseur.spatial.vectors import Matrix, Vector, cross, dot

__all__ = ["KEPT_FIRST", "BaseParameters", "Combination", "accumulate", "base_parameters"]

KEPT_FIRST = ("ZZ", "XX", "XY", "XZ", "YZ", "MX", "MY", "YY", "MZ", "M", "IA", "JM")
"""Which parameters stay where several could: SYMORO's choice."""

Combination = dict[int, Expr]
"""Standard parameters by their places, with factors."""


@dataclass(frozen=True)
class BaseParameters:
    """K_B = B K: the base parameters as combinations of the standard ones.

    Attributes:
        standard: K.
        kept: the places in K of the parameters the others are regrouped with; tau = Y[:, kept] K_B.
        groups: for each of them its combination of standard parameters.
    """

    standard: tuple[StandardParameter, ...]
    kept: tuple[int, ...]
    groups: tuple[Mapping[int, Expr], ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """ZZR1 where something is regrouped with ZZ1, ZZ1 where not."""
        names = []
        for k, group in zip(self.kept, self.groups, strict=True):
            symbol, name = self.standard[k].symbol, self.standard[k].name
            names.append(name if len(group) == 1 else f"{symbol}R{name.removeprefix(symbol)}")
        return tuple(names)

    @property
    def values(self) -> list[Expr]:
        """K_B in the parameters of the description, each under its name."""
        values = []
        for name, group in zip(self.names, self.groups, strict=True):
            g = self.standard[0].value.graph
            total = g.zero
            for i, factor in group.items():
                total = total + factor * self.standard[i].value
            values.append(g.name(total, name))
        return values

    @property
    def without_effect(self) -> tuple[str, ...]:
        """The standard parameters that no motion shows."""
        seen = {i for group in self.groups for i in group}
        return tuple(p.name for i, p in enumerate(self.standard) if i not in seen)

    @property
    def regrouped(self) -> tuple[str, ...]:
        """The standard parameters that show only together with others."""
        seen = {i for group in self.groups for i in group} - set(self.kept)
        return tuple(self.standard[i].name for i in sorted(seen))


def base_parameters(tree: Tree) -> BaseParameters:
    """The base parameters of a tree, by the closed rules; they hold for almost all values of the free parameters.

    A rotor carried by another link than the parent of its joint, or that drives the second axis of a universal joint,
    is not regrouped. The motion of a driven base counts as any motion. Where one speed moves several links (free-form
    kinematics) each joint counts as free: what is regrouped is right, but fewer parameters might do; the rank of the
    regressor tells (`identifiable_parameters`).
    """
    standard = standard_parameters(tree)
    rules = _Rules(tree, Elimination(tree.system))
    conditions = rules.conditions(standard)
    arriving: list[list[_Item]] = [[] for _ in tree.links]
    kept: dict[int, Combination] = {
        i: {i: tree.system.graph.one} for i, p in enumerate(standard) if p.symbol in ("FV", "FS")
    }
    for k in reversed(range(len(tree.links))):
        items = _items(tree, standard, k, arriving[k])
        stays, goes = rules.split(conditions[k], items)
        for item in stays:
            for place, factor in item.column.items():
                accumulate(kept.setdefault(place, {}), item.total, factor)
        parent = tree.links[k].parent
        if parent >= 0:
            arriving[parent] += [item.seen_from(tree.links[k].K) for item in goes]
    places = sorted(kept)
    groups = rules.algebra.without_zeros([dict(sorted(kept[i].items())) for i in places])
    return BaseParameters(tuple(standard), tuple(places), tuple(groups))


# -- parameters on their way down --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Item:
    """A parameter on a link, or on the way from where it was described to the base.

    Attributes:
        place: in K.
        parameter: the standard one it was.
        ten: an inertia on this link that acts like it when it is one; zero for a drive.
        column: how its column of Y is made of the columns of K.
        total: its value, made of the values of K.
    """

    place: int
    parameter: StandardParameter
    ten: Row
    column: Combination
    total: Combination

    def seen_from(self, K: Pose) -> _Item:
        return replace(self, ten=list((K @ Inertia.from_ten(*self.ten)).ten()))

    @property
    def rank(self) -> int:
        return KEPT_FIRST.index(self.parameter.symbol)


def _items(tree: Tree, standard: Sequence[StandardParameter], k: int, arriving: Sequence[_Item]) -> list[_Item]:
    """What link k has to deal with: its own ten with all that arrives, or that alone on a massless link; its drives."""
    g = tree.system.graph
    own = [(i, p) for i, p in enumerate(standard) if p.link == k and p.symbol in TEN]
    items = list(arriving)
    if own:
        items = []
        for row, (i, p) in enumerate(own):
            total: Combination = {i: g.one}
            for item in arriving:
                accumulate(total, item.total, item.ten[row])
            items.append(_Item(i, p, [g.one if n == row else g.zero for n in range(10)], {i: g.one}, total))
    drives = [(i, p) for i, p in enumerate(standard) if p.link == k and p.symbol in ("IA", "JM")]
    return items + [_Item(i, p, [g.zero] * 10, {i: g.one}, {i: g.one}) for i, p in drives]


def accumulate(total: Combination, other: Mapping[int, Expr], factor: Expr) -> None:
    """total + factor other, entries that vanish left out."""
    zero = factor.graph.zero
    for i, x in other.items():
        term = total.get(i, zero) + factor * x
        if term is not zero:
            total[i] = term
        else:
            total.pop(i, None)


# -- the rules ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Sight:
    """What the motion of a link shows: rows C of inertias, and a basis (linear; angular) of its velocities."""

    rows: list[Row]
    twists: list[Row]


@dataclass(frozen=True)
class _Condition:
    """A row that must vanish on the ten parameters of a link together with the drives of its joint, by place in K."""

    ten: Row
    drives: Combination


class _Rules:
    def __init__(self, tree: Tree, algebra: Elimination) -> None:
        self.tree, self.algebra, self.g = tree, algebra, tree.system.graph

    def conditions(self, standard: Sequence[StandardParameter]) -> list[list[_Condition]]:
        """For every link what an inertia must satisfy to be moved to its parent."""
        drives = {i: p for i, p in enumerate(standard) if self._is_at_its_joint(p)}
        sights, rules = list[_Sight](), []
        for k, link in enumerate(self.tree.links):
            below = self._world() if link.parent < 0 else sights[link.parent]
            mine = {i: p for i, p in drives.items() if p.link == k}
            conditions, sight = self._through(link, below, mine)
            sights.append(sight)
            far = [i for i, p in enumerate(standard) if p.link == k and p.symbol in ("IA", "JM") and i not in drives]
            none = [self.g.zero] * 10
            rules.append([*conditions, *(_Condition(none, {i: self.g.one}) for i in far)])
        return rules

    def _is_at_its_joint(self, p: StandardParameter) -> bool:
        """Whether a drive acts on one joint alone, as if its inertia were at it, or as a rotor on the joint's parent.

        The rotor must drive a column that stays where it is on the parent.
        """
        link = self.tree.links[p.link]
        moved = [other for other in self.tree.links if p.speed in other.places]
        if p.symbol not in ("IA", "JM") or len(moved) > 1 or link.gearing is not None:
            return False
        steady = not link.kind.turns_its_columns or p.speed == link.places[0]
        return p.rotor is None or (p.rotor.link == link.parent and steady)

    def _world(self) -> _Sight:
        zero, gravity = self.g.zero, self.tree.system.vector(self.tree.system.mechanism.gravity)
        return _Sight(self.algebra.basis([[*[zero] * 6, *gravity, zero]]), [])

    def _through(
        self, link: Link, below: _Sight, drives: Mapping[int, StandardParameter]
    ) -> tuple[list[_Condition], _Sight]:
        """The conditions of a joint, stage by stage, and what the link behind it shows."""
        if link.drive is not None:
            units = [[[self.g.one if i == k else self.g.zero for k in range(n)] for i in range(n)] for n in (10, 6)]
            return [], _Sight(*units)
        X = _seen_from(link.K)
        sight = _Sight([X(row) for row in below.rows], [list((link.K.inv @ Motion.of(V)).six) for V in below.twists])
        angular = [Vector(*V[3:]) for V in below.twists]
        conditions: list[_Condition] = []
        columns = link.kind.subspace(self.g, [self.g.zero] * link.kind.nq, link.settings)
        stages = [[i] for i in range(len(columns))] if link.kind.turns_its_columns else [list(range(len(columns)))]
        for n, stage in enumerate(stages):
            own = [columns[i] for i in stage]
            acting = [{i: p for i, p in drives.items() if p.speed == link.places[c]} for c in stage]
            more, sight = self._stage(own, sight, acting, angular if n == 0 else [])
            conditions += more
        return conditions, sight

    def _stage(
        self,
        columns: Sequence[Motion],
        sight: _Sight,
        drives: Sequence[Mapping[int, StandardParameter]],
        angular: Sequence[Vector],
    ) -> tuple[list[_Condition], _Sight]:
        """Columns that form a group of motions (1 to 6 of them)."""
        turns = [_bracket(S) for S in columns]
        carried = self.algebra.closure([turn(V) for V in sight.twists for turn in turns], turns)
        momenta = []
        for S, acting in zip(columns, drives, strict=True):
            squares = {i: p.rotor.ratio * p.rotor.ratio if p.rotor else self.g.one for i, p in acting.items()}
            for other in columns:
                momenta.append(_Condition(_momentum(S, other), squares if other is S else {}))
            for k, V in enumerate(sight.twists):
                meets = {
                    i: p.rotor.ratio * dot(p.rotor.axis, angular[k]) for i, p in acting.items() if p.rotor and angular
                }
                momenta.append(_Condition(_momentum(S, Motion.of(V)), meets))
            momenta += [_Condition(_momentum(S, Motion.of(V)), {}) for V in carried]
        moves = [_moved_along(S) for S in columns]
        changes = self.algebra.closure([move(row) for row in sight.rows for move in moves], moves)
        rows = [*sight.rows, *changes, *(c.ten for c in momenta)]
        twists = [*sight.twists, *carried, *(list(S.six) for S in columns)]
        after = _Sight(self.algebra.basis(rows), self.algebra.basis(twists))
        return [*momenta, *(_Condition(row, {}) for row in changes)], after

    def split(self, conditions: Sequence[_Condition], items: Sequence[_Item]) -> tuple[list[_Item], list[_Item]]:
        """Which items stay on a link, others regrouped with them, and what goes to the parent."""
        zero, n = self.g.zero, len(items)
        table = [[_times(c.ten, item.ten) + c.drives.get(item.place, zero) for item in items] for c in conditions]
        pivots = self.algebra.reduced(table, sorted(range(n), key=lambda i: items[i].rank)) if items else {}
        stays = []
        for i, row in pivots.items():
            total = dict(items[i].total)
            for f in range(n):
                if f not in pivots:
                    accumulate(total, items[f].total, row[f])
            stays.append(replace(items[i], total=total))
        goes = []
        for f in range(n):
            if f not in pivots:
                ten, column = items[f].ten, dict(items[f].column)
                for i, row in pivots.items():
                    ten = [x - row[f] * y for x, y in zip(ten, items[i].ten, strict=True)]
                    accumulate(column, items[i].column, -row[f])
                goes.append(replace(items[f], ten=ten, column=column))
        return stays, [item for item in goes if any(x is not zero for x in item.ten)]


# -- linear maps -------------------------------------------------------------------------------------------------------
def _times(row: Row, column: Row) -> Expr:
    zero = total = row[0].graph.zero
    for x, y in zip(row, column, strict=True):
        if x is not zero and y is not zero:
            total = total + x * y
    return total


def _momentum(S: Motion, V: Motion) -> Row:
    """The row of S' I(K) V = s.(M v + w x MS) + t.(J w + MS x v), with S = (s, t) and V = (v, w)."""
    (s, t), (v, w) = S, V
    first = cross(s, w) + cross(v, t)
    return [
        t[0] * w[0],
        t[0] * w[1] + t[1] * w[0],
        t[0] * w[2] + t[2] * w[0],
        t[1] * w[1],
        t[1] * w[2] + t[2] * w[1],
        t[2] * w[2],
        *first,
        dot(s, v),
    ]


def _bracket(S: Motion) -> Callable[[Row], Row]:
    """V -> the rate of V in axes that move along S (up to its sign)."""
    return lambda V: list(cross(S, Motion.of(V)).six)


def _linear(row_of: Callable[[Inertia], Inertia], g_one: Expr) -> Callable[[Row], Row]:
    """row -> row A, where A is a linear map of inertias."""
    one, zero = g_one, g_one.graph.zero
    columns = [row_of(Inertia.from_ten(*(one if i == k else zero for i in range(10)))).ten() for k in range(10)]
    return lambda row: [_times(row, list(column)) for column in columns]


def _seen_from(K: Pose) -> Callable[[Row], Row]:
    return _linear(lambda inertia: K @ inertia, K.graph.one)


def _moved_along(S: Motion) -> Callable[[Row], Row]:
    """The rate of a body's ten parameters, in axes that stay behind, when it moves along S."""

    def rate(body: Inertia) -> Inertia:
        (v, w), MS, zero = S, body.MS, body.graph.zero
        s = 2.0 * dot(v, MS)
        turned = w.skew @ body.J - body.J @ w.skew
        J = turned + Matrix.diagonal(s, s, s) - v.outer(MS) - MS.outer(v)
        return Inertia(J.mirrored, cross(w, MS) + body.M * v, zero)

    return _linear(rate, S.linear.graph.one)
