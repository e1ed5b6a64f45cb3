"""Small mechanisms that bounce, stop, stick and slip, for programs that are exported."""

from __future__ import annotations

from typing import Any

from torseur.describe import Effort, Mechanism, SpringDamper

__all__ = ["STICK", "ball", "pendulum", "rk4", "slider_crank"]


def ball(**more: Any) -> Mechanism:
    body = {"joint": {"kind": "prismatic", "coordinate": "z", "start": 1.0}, "inertia": {"mass": 1.0}}
    return Mechanism(
        name="ball",
        gravity=(0.0, 0.0, -9.81),
        bodies={"ball": body},
        constraints={"ground": {"contact": {"frame": "ball", "restitution": 0.7}}},
        **more,
    )


def pendulum(**more: Any) -> Mechanism:
    joint = {"kind": "revolute", "coordinate": "th", "start": 0.1, "lower": -0.3, "upper": 0.35}
    return Mechanism(
        name="pendulum",
        bodies={"rod": {"joint": joint, "inertia": {"ZZ": 0.5}}},
        inputs={"tau": {"unit": "N m"}},
        loads={"motor": Effort(coordinate="th", value="tau")},
        **more,
    )


def slider_crank(R: float = 0.2, L: float = 0.7, F: float = 4.0) -> Mechanism:
    """A piston with dry friction that a crank drives through its dead centres."""
    upright = {"pose": {"rpy": ["pi/2", 0, 0]}}
    return Mechanism(
        name="slider_crank",
        gravity=(0.0, 0.0, 0.0),
        bodies={
            "crank": {"place": upright, "joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"ZZ": 0.05}},
            "rod": {
                "parent": "crank",
                "place": {"pose": {"position": [R, 0, 0]}},
                "joint": {"kind": "revolute", "coordinate": "b"},
                "frames": {"end": {"place": {"pose": {"position": [L, 0, 0]}}}},
            },
            "piston": {
                "place": {"pose": {"rpy": [0, "pi/2", 0]}},
                "joint": {"kind": "prismatic", "coordinates": {"p": {"guess": R + L}}},
                "inertia": {"mass": 2.0},
                "frames": {"pin": {"place": upright}},
            },
        },
        loops={"pin": {"between": ["end", "pin"]}},
        loads={"wall": SpringDamper(coordinate="p", friction=F)},
    )


STICK = """
torseur: 1
name: stick
gravity: [0, 0, -9.81]
bodies:
  along: {place: {pose: {rpy: [0, pi/2, 0]}}, joint: {kind: prismatic, coordinate: x}}
  up: {parent: along, place: {pose: {rpy: [0, -pi/2, 0]}}, joint: {kind: prismatic, coordinate: z, start: 0.6}}
  body:
    parent: up
    place: {pose: {rpy: [-pi/2, 0, 0]}}
    joint: {kind: revolute, coordinate: a, start: 0.4}
    inertia: {mass: 1.0, tensor: [0.02, 0.02, 0.03]}
    frames: {left: [-0.3, 0, 0], right: [0.3, 0, 0]}
constraints:
  l: {contact: {frame: left, restitution: 0.3, friction: 0.4}}
  r: {contact: {frame: right, restitution: 0.3, friction: 0.4}}
"""


def rk4(step: float = 1e-3) -> dict[str, Any]:
    return {"method": "rk4", "step": step}
