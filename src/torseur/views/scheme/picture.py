"""The kinematic scheme of a mechanism as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torseur.describe import Formula, Mechanism
from torseur.dynamics.system import System
from torseur.errors import ArgumentError
from torseur.spatial.joints import Quantity
from torseur.views.scheme.assembly import assembled
from torseur.views.scheme.composition import Composition
from torseur.views.scheme.labels import Placed
from torseur.views.scheme.layout import laid_out
from torseur.views.scheme.skeleton import Skeleton, skeleton_of
from torseur.views.scheme.values import Values, values_for
from torseur.views.scheme.view import best_view

__all__ = ["Picture", "draw_scheme"]

MOST_BODIES = 300


@dataclass(frozen=True)
class Picture:
    """A drawing, what was assumed to make it, and where its labels are."""

    svg: str
    notes: tuple[str, ...]
    labels: tuple[Placed, ...]


def draw_scheme(
    mechanism: Mechanism, *, pose: Mapping[str, float] | None = None, parameters: Mapping[str, float] | None = None
) -> Picture:
    """The kinematic scheme of a mechanism: pieces as lines, joints as symbols, coordinates with their positive sense.

    Args:
        mechanism: what to draw.
        pose: coordinates, by name, rad and m; the others are where they start, or where loops close.
        parameters: values of parameters, by name; they come before those of the description.

    >>> from torseur.describe import Body, Joint, Mechanism
    >>> pendulum = Mechanism(name="pendulum", bodies={"bob": Body(joint=Joint(kind="revolute"))})
    >>> draw_scheme(pendulum, pose={"q_bob": 0.5}).svg[:4]
    '<svg'
    """
    if len(mechanism.bodies) > MOST_BODIES:
        got = str(len(mechanism.bodies))
        raise ArgumentError("too many bodies for one picture", expected=f"at most {MOST_BODIES}", got=got)
    values = assembled(values_for(System(mechanism), pose or {}, parameters or {}))
    skeleton = skeleton_of(values)
    view = best_view(skeleton, mechanism)
    title = mechanism.name if mechanism.title in (None, mechanism.name) else f"{mechanism.name}: {mechanism.title}"
    notes = [*values.notes, *_posture(values), *_idle(mechanism, skeleton)]
    layout = laid_out(skeleton, view, title, notes)
    drawing = Composition(skeleton, layout)
    drawing.draw(title)
    svg = drawing.sheet.document(layout.width, layout.height, title, "\n".join(["kinematic scheme", *notes]))
    return Picture(svg, tuple(notes), tuple(drawing.placed))


def _idle(mechanism: Mechanism, skeleton: Skeleton) -> list[str]:
    """Coordinates of free-form kinematics that move nothing, and so are nowhere in the picture."""
    moving = {name for joint in skeleton.joints for label in joint.labels for name in Formula(label).names}
    idle = [name for name in mechanism.coordinates if name not in moving]
    return [f"not drawn, for no body moves with them: {', '.join(idle)}"] if idle else []


def _posture(values: Values) -> list[str]:
    """The coordinates that are not zero, in words."""
    named = zip(values.system.mechanism.q, values.q, strict=True)
    shown = [f"{x.name} = {value:.3g}" for x, value in named if abs(value) > 5e-4 and x.quantity is not Quantity.NUMBER]
    return [f"drawn at {', '.join(shown)}; other coordinates 0"] if shown else []
