"""MF 5.2 and MF 6.1 in plain NumPy, written from the manuals and Pacejka's book, for comparison.

Everything is in ISO-W: kappa = -Vsx / |Vx|, alpha = atan(Vy / Vx), Vx > 0. Names are those of the property files; `P`
is a dictionary of them. Nothing of the package is used. At low speed what tells senses of rolling apart fades.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["clipped", "parameters_of", "relaxation_lengths", "wheel_forces"]

EPS = 1e-6


def parameters_of(file: Path) -> dict[str, Any]:
    """Numbers and words of a property file, those of its units left out."""
    found: dict[str, Any] = {}
    for section, body in re.findall(r"^\[(\w+)\]([^\[]*)", file.read_text(), flags=re.MULTILINE):
        if section == "UNITS":
            continue
        for name, value in re.findall(r"^\s*(\w+)\s*=\s*('[^']*'|[^\s$!]+)", body, flags=re.MULTILINE):
            found[name] = value.strip("'") if value.startswith("'") else float(value)
    return found


class Reader:
    """P with defaults: factors L... are 1, coefficients 0."""

    def __init__(self, P: dict[str, Any]) -> None:
        self.P = P

    def __getitem__(self, name: str) -> float:
        return self.P.get(name, 1.0 if name[0] == "L" and name != "LMUV" else 0.0)


def clipped(P: dict[str, Any], Fz: Any, kappa: Any, alpha: Any, gamma: Any, p: Any) -> tuple[Any, ...]:
    """Inputs at the ends of their ranges; loads at the upper end only."""
    Fz = np.clip(Fz, 0.0, P["FZMAX"])
    kappa, alpha = np.clip(kappa, P["KPUMIN"], P["KPUMAX"]), np.clip(alpha, P["ALPMIN"], P["ALPMAX"])
    gamma = np.clip(gamma, P["CAMMIN"], P["CAMMAX"])
    return Fz, kappa, alpha, gamma, np.clip(p, P["PRESMIN"], P["PRESMAX"]) if "PRESMIN" in P else p


def wheel_forces(
    P: dict[str, Any], Fz: Any, kappa: Any, alpha: Any, gamma: Any, Vx: Any, p: Any = None, mu: Any = 1.0
) -> dict[str, Any]:
    """Fx, Fy, Mx, My, Mz of a wheel that rolls forward; inputs are held within the ranges of the file."""
    k, old = Reader(P), P["FITTYP"] == 6
    slip = kappa  # what the wheel turns at does not know ranges
    low = np.where(np.abs(Vx) < P["VXLOW"], 0.5 - 0.5 * np.cos(np.pi * Vx / P["VXLOW"]), 1.0)
    traction = np.maximum(kappa, 0.0)
    kappa = kappa / (1.0 + traction * (1.0 - low))  # over the larger speed at rest
    p0 = P.get("NOMPRES", 1.0)
    Fz, kappa, alpha, gamma, p = clipped(P, Fz, kappa, alpha, gamma, p0 if p is None else p)
    Fz0, R0 = P["FNOMIN"], P["UNLOADED_RADIUS"]
    Fz0s = k["LFZO"] * Fz0
    df, dp = Fz / Fz0s - 1.0, p / p0 - 1.0
    mx, my = k["LMUX"] * mu, k["LMUY"] * mu
    ta, sg = np.tan(alpha), np.sin(gamma)
    gx, gy, gz, gt = gamma, sg, sg, gamma
    if old:
        gx, gy, gz, gt = gx * k["LGAX"], gy * k["LGAY"], gz * k["LGAZ"], gt * k["LGAZ"]

    Fx0, Kx = _pure_x(k, Fz, kappa, gx, df, dp, mx, low)
    Fy0, muy, Ky, SHy, SVy, BC = _pure_y(k, old, Fz, Fz0s, ta, gy, df, dp, my, low)
    Fx = Fx0 * _weight_x(k, kappa, ta, gy, df, low)
    G = _weight_y(k, kappa, ta, gy, df, low)
    SVyk = muy * Fz * (k["RVY1"] + k["RVY2"] * df + k["RVY3"] * gy) * np.cos(np.arctan(k["RVY4"] * ta))
    SVyk = SVyk * np.sin(k["RVY5"] * np.arctan(k["RVY6"] * kappa)) * k["LVYKA"] * low
    Fy = G * Fy0 + SVyk

    t, Mzr = _trail(k, Fz, R0, Fz0, ta, kappa, gz, gt, df, dp, my, Vx, Kx, Ky, SHy, SVy, BC)
    s = R0 * (k["SSZ1"] * low + k["SSZ2"] * Fy / Fz0 + (k["SSZ3"] + k["SSZ4"] * df) * gamma) * k["LS"]
    upright = _pure_y(k, old, Fz, Fz0s, ta, 0.0 * gy, df, dp, my, low)[0]
    acting = Fy - SVyk if old else G * upright
    Mz = -low * t * acting + low * Mzr + s * Fx
    My = _rolling(k, old, P, Fz, Fx, gamma, Vx, p / p0)
    My = My * np.sin(0.5 * np.pi * np.clip(Vx * (1.0 + slip) / P["VXLOW"], -1.0, 1.0))
    return {"Fx": Fx, "Fy": Fy, "Mx": _overturning(k, old, Fz, Fz0, R0, Fy, gamma, dp, low), "My": My, "Mz": Mz}


def _shape(B: Any, C: Any, E: Any, x: Any) -> Any:
    return C * np.arctan(B * x - np.minimum(E, 1.0) * (B * x - np.arctan(B * x)))


def _signed(x: Any) -> Any:
    return x + EPS * np.where(x < 0.0, -1.0, 1.0)


def _pure_x(k: Reader, Fz: Any, kappa: Any, g: Any, df: Any, dp: Any, mx: Any, low: Any) -> tuple[Any, Any]:
    x = kappa + low * k["LHX"] * (k["PHX1"] + k["PHX2"] * df)
    D = Fz * mx * (k["PDX1"] + k["PDX2"] * df) * (1 + k["PPX3"] * dp + k["PPX4"] * dp**2) * (1 - k["PDX3"] * g**2)
    K = Fz * (k["PKX1"] + k["PKX2"] * df) * np.exp(k["PKX3"] * df) * (1 + k["PPX1"] * dp + k["PPX2"] * dp**2) * k["LKX"]
    C = k["PCX1"] * k["LCX"]
    E = (k["PEX1"] + k["PEX2"] * df + k["PEX3"] * df**2) * (1 - k["PEX4"] * low * np.sign(x)) * k["LEX"]
    SV = Fz * (k["PVX1"] + k["PVX2"] * df) * k["LVX"] * mx * low
    return D * np.sin(_shape(K / _signed(C * D), C, E, x)) + SV, K


def _pure_y(
    k: Reader, old: bool, Fz: Any, Fz0s: float, ta: Any, g: Any, df: Any, dp: Any, my: Any, low: Any
) -> tuple[Any, ...]:
    at = (k["PKY2"] + k["PKY5"] * g**2) * (1 + k["PPY2"] * dp)
    K = k["PKY1"] * Fz0s * np.sin((2.0 if old else k["PKY4"]) * np.arctan(Fz / (at * Fz0s))) * k["LKY"]
    K = K * (1 - k["PKY3"] * np.abs(g)) * (1 + k["PPY1"] * dp)
    SVg = Fz * (k["PVY3"] + k["PVY4"] * df) * g * my * (1.0 if old else k["LKYC"])
    if old:
        shift = k["PHY3"] * g
    else:
        Kg = Fz * (k["PKY6"] + k["PKY7"] * df) * (1 + k["PPY5"] * dp) * k["LKYC"]
        shift = (Kg * g - SVg) / _signed(K)
    SH = low * ((k["PHY1"] + k["PHY2"] * df) * k["LHY"] + shift)
    SV = low * (Fz * (k["PVY1"] + k["PVY2"] * df) * k["LVY"] * my + SVg)
    x = ta + SH
    mu = my * (k["PDY1"] + k["PDY2"] * df) * (1 + k["PPY3"] * dp + k["PPY4"] * dp**2) * (1 - k["PDY3"] * g**2)
    E = (k["PEY1"] + k["PEY2"] * df) * k["LEY"]
    E = E * (1 + k["PEY5"] * g**2 - (k["PEY3"] * low + k["PEY4"] * g) * np.sign(x))
    C = k["PCY1"] * k["LCY"]
    B = K / _signed(C * mu * Fz)
    return mu * Fz * np.sin(_shape(B, C, E, x)) + SV, mu, K, SH, SV, B * C


def _weight_x(k: Reader, kappa: Any, ta: Any, g: Any, df: Any, low: Any) -> Any:
    B = (k["RBX1"] + k["RBX3"] * g**2) / np.sqrt(1.0 + (k["RBX2"] * kappa) ** 2) * k["LXAL"]
    E, C, S = k["REX1"] + k["REX2"] * df, k["RCX1"], k["RHX1"] * low
    return np.cos(_shape(B, C, E, ta + S)) / np.cos(_shape(B, C, E, S))


def _weight_y(k: Reader, kappa: Any, ta: Any, g: Any, df: Any, low: Any) -> Any:
    B = (k["RBY1"] + k["RBY4"] * g**2) / np.sqrt(1.0 + (k["RBY2"] * (ta - k["RBY3"] * low)) ** 2) * k["LYKA"]
    E, C, S = k["REY1"] + k["REY2"] * df, k["RCY1"], (k["RHY1"] + k["RHY2"] * df) * low
    return np.cos(_shape(B, C, E, kappa + S)) / np.cos(_shape(B, C, E, S))


def _trail(
    k: Reader, Fz: Any, R0: float, Fz0: float, ta: Any, kappa: Any, gz: Any, gt: Any, df: Any, dp: Any, my: Any,
    Vx: Any, Kx: Any, Ky: Any, SHy: Any, SVy: Any, BC: Any,
) -> tuple[Any, Any]:  # fmt: skip
    Kp = _signed(Ky)
    xt = ta + k["QHZ1"] + k["QHZ2"] * df + (k["QHZ3"] + k["QHZ4"] * df) * gz
    xr = ta + SHy + SVy / Kp
    B = (k["QBZ1"] + k["QBZ2"] * df + k["QBZ3"] * df**2) * (1 + k["QBZ4"] * gt + k["QBZ5"] * np.abs(gt)) * k["LKY"] / my
    C = k["QCZ1"]
    D = Fz * R0 / Fz0 * (k["QDZ1"] + k["QDZ2"] * df) * (1 - k["PPZ1"] * dp) * (1 + k["QDZ3"] * gt + k["QDZ4"] * gt**2)
    E = (k["QEZ1"] + k["QEZ2"] * df + k["QEZ3"] * df**2) * (
        1 + (k["QEZ4"] + k["QEZ5"] * gz) * 2 / np.pi * np.arctan(B * C * xt)
    )
    camber = ((k["QDZ8"] + k["QDZ9"] * df) * (1 + k["PPZ2"] * dp) + (k["QDZ10"] + k["QDZ11"] * df) * np.abs(gz)) * gz
    Dr = Fz * R0 * ((k["QDZ6"] + k["QDZ7"] * df) * k["LRES"] + camber * k["LKZC"]) * my * np.cos(ta)
    Br = k["QBZ9"] * k["LKY"] / my + k["QBZ10"] * BC
    xt, xr = (np.arctan(np.hypot(np.tan(x), Kx / Kp * kappa)) for x in (xt, xr))
    cosine = Vx / (Vx * np.sqrt(1 + ta**2) + EPS)
    return D * k["LTR"] * np.cos(_shape(B, C, E, xt)) * cosine, Dr * np.cos(np.arctan(Br * xr))


def _overturning(k: Reader, old: bool, Fz: Any, Fz0: float, R0: float, Fy: Any, g: Any, dp: Any, low: Any) -> Any:
    if old:
        return R0 * Fz * (k["QSX1"] * k["LVMX"] * low + k["LMX"] * (k["QSX3"] * Fy / Fz0 - k["QSX2"] * g))
    n, f = Fz / Fz0, Fy / Fz0
    terms = k["QSX1"] * k["LVMX"] * low + k["QSX3"] * f
    terms = terms - k["QSX2"] * g * (1 + k["PPMX1"] * dp) - k["QSX12"] * g * np.abs(g)
    wave = np.cos(k["QSX5"] * np.arctan((k["QSX6"] * n) ** 2))
    terms = terms + k["QSX4"] * wave * np.sin(k["QSX7"] * g + k["QSX8"] * np.arctan(k["QSX9"] * f))
    terms = terms + k["QSX10"] * np.arctan(k["QSX11"] * n) * g
    return R0 * k["LMX"] * (Fz * terms + Fy * (k["QSX13"] + k["QSX14"] * np.abs(g)))


def _rolling(k: Reader, old: bool, P: dict[str, Any], Fz: Any, Fx: Any, g: Any, Vx: Any, ratio: Any) -> Any:
    R0, Fz0, v = P["UNLOADED_RADIUS"], P["FNOMIN"], np.abs(Vx) / P["LONGVL"]
    terms = k["QSY1"] + k["QSY2"] * Fx / Fz0 + k["QSY3"] * v + k["QSY4"] * v**4
    if old:
        return -R0 * Fz * terms * k["LMY"]
    terms = terms + (k["QSY5"] + k["QSY6"] * Fz / Fz0) * g**2
    return -R0 * Fz0 * terms * (Fz / Fz0) ** k["QSY7"] * ratio ** k["QSY8"] * k["LMY"]


def relaxation_lengths(P: dict[str, Any], Fz: Any, gamma: Any, p: Any = None) -> tuple[Any, Any]:
    """Of kappa and of alpha, m."""
    k, p0 = Reader(P), P.get("NOMPRES", 1.0)
    p = p0 if p is None else p
    Fz0, R0 = P["FNOMIN"], P["UNLOADED_RADIUS"]
    Fz0s = k["LFZO"] * Fz0
    df, dp = Fz / Fz0s - 1.0, p / p0 - 1.0
    if P["FITTYP"] == 6:
        x = (k["PTX1"] + k["PTX2"] * df) * np.exp(-k["PTX3"] * df) * R0 * Fz / Fz0 * k["LSGKP"]
        y = k["PTY1"] * np.sin(2 * np.arctan(Fz / (k["PTY2"] * Fz0s))) * (1 - k["PKY3"] * np.abs(gamma)) * R0
        return x, y * k["LFZO"] * k["LSGAL"]
    Kx = _pure_x(k, Fz, 0.0, gamma, df, dp, k["LMUX"], 1.0)[1]
    Ky = _pure_y(k, False, Fz, Fz0s, 0.0, np.sin(gamma), df, dp, k["LMUY"], 1.0)[2]
    Cx = P["LONGITUDINAL_STIFFNESS"] * (1 + k["PCFX1"] * df + k["PCFX2"] * df**2) * (1 + k["PCFX3"] * dp)
    Cy = P["LATERAL_STIFFNESS"] * (1 + k["PCFY1"] * df + k["PCFY2"] * df**2) * (1 + k["PCFY3"] * dp)
    return np.abs(Kx / Cx), np.abs(Ky / Cy)
