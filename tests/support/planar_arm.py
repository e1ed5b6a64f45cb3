"""The planar arm with two revolute joints, in SYMORO's parameters: a small function everybody can check by hand."""

from torseur.graph import Function, Graph, Role, cos, sin

__all__ = ["planar_inertia"]


def planar_inertia() -> Function:
    """The inertia matrix of the planar 2R arm; L is the length of the first link.

    M11 = ZZ1 + ZZ2 + L^2 M2 + 2 L (MX2 C2 - MY2 S2), M12 = ZZ2 + L (MX2 C2 - MY2 S2), M22 = ZZ2.
    """
    g = Graph()
    q = g.block("q", 2)
    p = g.block("p", 6, Role.PARAMETER, names=["ZZ1", "ZZ2", "MX2", "MY2", "M2", "L"])
    ZZ1, ZZ2, MX2, MY2, M2, L = p
    C2, S2 = g.name(cos(q[1]), "C2"), g.name(sin(q[1]), "S2")
    ZZ1R = g.name(ZZ1 + M2 * (L * L), "ZZ1R")
    h = g.name(L * (MX2 * C2 - MY2 * S2), "h")
    M12 = ZZ2 + h
    return Function("inertia", [q, p], {"M": [[ZZ1R + ZZ2 + 2.0 * h, M12], [M12, ZZ2]]})
