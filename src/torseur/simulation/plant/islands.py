"""Parts of a mechanism that have nothing to do with each other: each keeps its own energy.

Bodies belong together that a joint, a load, a rotor, a loop or a constraint connects, the ground aside. What a
controller does to several of them does not connect them: it is work from outside on each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torseur.describe import BaseKind
from torseur.dynamics.loads.energy import Part, power_of
from torseur.dynamics.tree.coordinates import rates
from torseur.dynamics.workbench import Workbench
from torseur.graph import Expr, ops
from torseur.graph.function import reachable

__all__ = ["Island", "islands_of"]


@dataclass(frozen=True)
class Island:
    """A part that touches no other: what it is called, and what it is made of."""

    name: str
    part: Part


def islands_of(w: Workbench) -> list[Island]:
    """The islands of a mechanism in the order of their first bodies; one that has no name where there is only one."""
    links = w.true_tree.links
    everything = Part(
        frozenset(range(len(links))), frozenset(range(w.true_tree.nv)), frozenset(w.system.mechanism.loads)
    )
    roots = [k for k, link in enumerate(links) if link.parent < 0]
    if w.system.mechanism.base.kind is not BaseKind.FIXED or len(roots) < 2:
        return [Island("", everything)]
    touching = _Touching(w)
    groups: dict[int, list[int]] = {}
    for k in range(len(links)):
        if links[k].places:
            groups.setdefault(touching.group(touching.speeds_of_link[k]), []).append(k)
    if len(groups) < 2:
        return [Island("", everything)]
    return [_island(w, touching, group, numbers) for group, numbers in groups.items()]


def _island(w: Workbench, touching: _Touching, group: int, numbers: Sequence[int]) -> Island:
    names = list(dict.fromkeys(w.true_tree.links[k].name for k in numbers))
    name = " and ".join(names) if len(names) < 3 else f"{names[0]} and others"
    speeds = frozenset(i for i in range(w.true_tree.nv) if touching.find(i) == group)
    loads = frozenset(n for n, found in touching.speeds_of_load.items() if found and touching.group(found) == group)
    return Island(name, Part(frozenset(numbers), speeds, loads))


class _Touching:
    """Which speeds belong together: a forest of sets."""

    def __init__(self, w: Workbench) -> None:
        self._above = list(range(w.true_tree.nv))
        places = {x.id: i for i, x in enumerate(w.system.v)}
        self._of_symbol = {x: [i] for x, i in places.items()}
        for q, rate in zip(w.system.q, rates(w.system), strict=True):
            self._of_symbol[q.id] = [places[n.id] for n in reachable([rate]) if n.id in places]
        self.speeds_of_link: list[list[int]] = []
        for link in w.true_tree.links:
            above = self.speeds_of_link[link.parent][:1] if link.parent >= 0 else []
            self.speeds_of_link.append(self._join([*above, *link.places]))
        for rotor in w.true_tree.rotors:
            self._join([rotor.speed, *(self.speeds_of_link[rotor.link][:1] if rotor.link >= 0 else [])])
        loads = w.system.mechanism.loads
        self.speeds_of_load = {n: self._join(self._in([power_of(w.tree, n)])) for n in loads}
        for row in w.constraints.rows:
            self._join(self._in([row.rate]))

    def _in(self, exprs: Sequence[Expr]) -> list[int]:
        """The speeds that expressions of q and v have to do with."""
        nodes = (n for n in reachable(exprs) if n.op is ops.SYMBOL)
        return sorted({i for n in nodes for i in self._of_symbol.get(n.id, ())})

    def _join(self, speeds: Iterable[int]) -> list[int]:
        found = list(speeds)
        for other in found[1:]:
            self._above[self.find(other)] = self.find(found[0])
        return found

    def find(self, i: int) -> int:
        while self._above[i] != i:
            i = self._above[i]
        return i

    def group(self, speeds: Sequence[int]) -> int:
        """The set that some speeds, which are together, belong to."""
        return self.find(speeds[0])
