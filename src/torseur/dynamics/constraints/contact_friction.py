"""Coulomb friction in contacts and rolling wheels: a force in the plane of contact, inside a round cone.

With s the sliding velocity (along two directions of the ground), mu the coefficient and N the normal force,

    slip    F = -mu N s / |s|
    stick   s = 0, |F| <= mu N

Functions of a model know slip only, and no force at rest, as they do of dry friction in joints; wheels that roll do not
slip there. A simulation puts its own law in place, with stick and slip by events: `torseur.simulation.plant.switches`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torseur.describe.constraints import Rolling
from torseur.dynamics.constraints.rows import Constraints, Row
from torseur.dynamics.loads.forces import Forces, not_negative
from torseur.dynamics.tree.tree import Tree
from torseur.graph import Expr, select, sqrt

__all__ = ["ContactLaw", "Rubbing", "add_friction", "length_of", "rubbing_of", "slipping"]


@dataclass(frozen=True)
class Rubbing:
    """A contact or rolling wheel with friction: coefficient, normal force, its rows along the ground."""

    name: str
    mu: Expr
    N: Expr
    rows: tuple[Row, ...]
    rolls: bool

    @property
    def slip(self) -> list[Expr]:
        """The sliding velocity, as many numbers as the mechanism can move along the ground in."""
        return [row.rate for row in self.rows]


ContactLaw = Callable[[Rubbing], Sequence[Expr] | None]
"""The force of friction along the rows of a contact; None where it has none."""


def rubbing_of(tree: Tree) -> list[Rubbing]:
    """The contacts and rolling wheels of a mechanism that have friction."""
    system = tree.system
    forms = {n: c.form for n, c in system.mechanism.constraints.items()}
    rough = [n for n in system.mechanism.pushing if forms[n].friction is not None]
    if not rough:
        return []
    rows, contacts = Constraints(tree).tangential, []
    for name in rough:
        N = system.normals[system.mechanism.pushing.index(name)]
        form = forms[name]
        mu = not_negative(system.scalar(form.friction))
        contacts.append(Rubbing(name, mu, N, tuple(rows(name)), isinstance(form, Rolling)))
    return contacts


def length_of(s: Sequence[Expr]) -> Expr:
    """|s|, whose derivatives exist at zero."""
    square = sum((x * x for x in s), s[0].graph.zero)
    moves = square > 0.0
    return select(moves, sqrt(select(moves, square, 1.0)), 0.0)


def slipping(contact: Rubbing) -> Sequence[Expr] | None:
    """-mu N s / |s|, nothing at rest; of wheels that roll none."""
    if contact.rolls or not contact.rows:
        return None
    speed = length_of(contact.slip)
    factor = select(speed > 0.0, -(contact.mu * contact.N) / select(speed > 0.0, speed, 1.0), 0.0)
    return [factor * s for s in contact.slip]


def add_friction(tree: Tree, forces: Forces, law: ContactLaw = slipping) -> dict[str, Expr]:
    """Add the friction of all contacts; the power of each."""
    powers = {}
    for contact in rubbing_of(tree):
        push = law(contact)
        if push is None:
            continue
        for force, row in zip(push, contact.rows, strict=True):
            for frame, wrench in row.acts or ():
                forces.act(frame, force * wrench)
        powers[contact.name] = sum((f * s for f, s in zip(push, contact.slip, strict=True)), tree.system.graph.zero)
    return powers
