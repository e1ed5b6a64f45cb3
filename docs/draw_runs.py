"""The pictures of the pages in docs/examples, from the studies: ``python docs/draw_runs.py [name ...]``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import torseur as ts
from torseur.simulation.results.result import Run
from torseur.views.plots.style import COLOURS, FAINT, WIDTH, new_figure, save_figure, styled

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "docs" / "_static" / "runs"
BLUE, RED, GREEN, PINK = COLOURS[:4]


def run_of(study: str, **changes: Any) -> Run:
    """A study of the examples, by folder and name."""
    return ts.simulate(ROOT / "examples" / f"{study}.yaml", **changes)


def panels(rows: int, columns: int = 1, height: float = 1.9, **options: Any) -> tuple[Any, Any]:
    figure = new_figure(height * rows, WIDTH)
    return figure, figure.subplots(rows, columns, **options)


def planar_2r() -> Any:
    run = run_of("planar_2r/pd_control")
    figure, (left, right) = panels(1, 2, 2.6)
    for name, colour, target in (("theta1", BLUE, 60), ("theta2", RED, -40)):
        left.plot(run.time, np.degrees(run[name]), color=colour, label=name)
        left.axhline(target, color=colour, lw=0.6, ls=":")
    left.set(xlabel="time (s)", ylabel="angle (deg)", title="joints, and where they are sent")
    left.legend()
    right.semilogy(run.time, run["law_lyapunov"], color=GREEN)
    right.set(xlabel="time (s)", ylabel="V (J)", title="Lyapunov function")
    return figure


def arm_3r() -> Any:
    run = run_of("arm_3r/circle")
    figure, (left, right) = panels(1, 2, 3.0, width_ratios=[1, 1.25])
    left.plot(run["path_y"], run["path_z"], color=FAINT, lw=3)
    left.plot(run["tool_y"], run["tool_z"], color=BLUE)
    left.plot(run["tool_y"][0], run["tool_z"][0], "o", mfc="white", mec=BLUE, ms=4)
    left.set(xlabel="y (m)", ylabel="z (m)", aspect="equal", title="tool, seen along x")
    right.semilogy(run.time, np.maximum(run["off"], 1e-13), color=RED)
    right.set(xlabel="time (s)", ylabel="distance from the path (m)", title="the error dies out as exp(-10 t)")
    return figure


def welding_arm() -> Any:
    fall, light = run_of("welding_arm/falling"), run_of("welding_arm/falling", parameters={"m4": 66.67})
    weld, weak = run_of("welding_arm/welding"), run_of("welding_arm/weak_motors")
    figure, ((a, b), (c, d)) = panels(2, 2, 2.4)
    for k, name in enumerate(("q2", "q3", "q4")):
        a.plot(fall.time, fall[name], color=COLOURS[k], label=name)
        a.plot(light.time, light[name], color=COLOURS[k], ls="--", lw=0.8)
        c.plot(weld.time, np.degrees(weld[name]), color=COLOURS[k], label=name)
        d.plot(weak.time, np.degrees(weak[name]), color=COLOURS[k], label=name)
        d.plot(weak.time, np.degrees(weak[f"goal_{name}"]), color=COLOURS[k], ls=":", lw=0.8)
        b.plot(weld.time, weld[f"Q{k + 2}"], color=COLOURS[k], label=f"Q{k + 2}")
    b.axhspan(-350, 350, color=FAINT, alpha=0.6, lw=0)
    a.set(ylabel="angle (rad)", title="(a) falling; dashed: S4 of 66.67 kg")
    c.set(ylabel="angle (deg)", xlabel="time (s)", title="(b) computed torque: the motion")
    b.set(ylabel="torque (N m)", title="(b) what it takes; grey: table 2")
    d.set(ylabel="angle (deg)", xlabel="time (s)", title="(c) motors of table 2; dotted: what is asked")
    b.set_ylim(-6000, 1900)
    c.set_ylim(0, 75)
    d.set_ylim(-5, 235)
    for ax in (a, b, c, d):
        ax.legend(ncols=3, fontsize=7.5, loc="lower left" if ax is a else "upper left")
    return figure


def motorised_6r() -> Any:
    full, bare = run_of("motorised_6r/release"), run_of("motorised_6r/release", parameters=no_rotors())
    figure, ax = panels(1, height=2.8)
    for k, name in enumerate(("q1", "q2", "q3")):
        ax.plot(full.time, np.degrees(full[name]), color=COLOURS[k], label=name)
        ax.plot(bare.time, np.degrees(bare[name]), color=COLOURS[k], ls="--", label=f"{name}, no rotors")
    ax.set_ylim(-145, 175)
    ax.set(xlabel="time (s)", ylabel="angle (deg)", title="the arm sinks with and without the inertia of its rotors")
    ax.legend(ncols=3)
    return figure


def no_rotors() -> dict[str, float]:
    return {f"jm{k}": 0.0 for k in range(1, 7)}


def satellite_arm() -> Any:
    run = run_of("satellite_arm/reach")
    figure, (left, right) = panels(1, 2, 2.8)
    for k, name in enumerate(("roll", "pitch", "yaw")):
        left.plot(run.time, np.degrees(run[f"attitude_{name}"]), color=COLOURS[k], label=name)
    left.set(xlabel="time (s)", ylabel="angle (deg)", title="the satellite turns as the arm goes round")
    left.legend()
    for k, (channel, row) in enumerate(zip(run.audit().channels, run.audit().table, strict=True)):
        right.semilogy(run.time[1:], np.maximum(channel.values[1:] / row["of"], 1e-17), color=COLOURS[k], lw=0.8)
        right.plot([], [], color=COLOURS[k], label=row["balance"])
    right.axhline(1e-9, color=FAINT)
    right.set(xlabel="time (s)", ylabel="error over amount", title="balances", ylim=(1e-17, 1e-8))
    right.legend(fontsize=7, loc="center right", bbox_to_anchor=(1.0, 0.7))
    return figure


def tractor_trailer() -> Any:
    lane, back = run_of("tractor_trailer/lane_change"), run_of("tractor_trailer/reversing")
    figure = new_figure(5.0)
    grid = figure.add_gridspec(2, 3, height_ratios=[1.3, 1])
    ax, bx, dx = (figure.add_subplot(grid[0, k]) for k in range(3))
    cx = figure.add_subplot(grid[1, :])
    ax.plot(lane["x"], lane["y"], color=BLUE, label="tractor")
    ax.plot(lane["back_x"], lane["back_y"], color=RED, label="trailer")
    ax.set(xlabel="x (m)", ylabel="y (m)", title="lane change: axles")
    ax.legend(fontsize=7)
    bx.plot(lane.time, np.degrees(lane["delta"]), color=GREEN, label="steering")
    bx.plot(lane.time, np.degrees(lane["Phi"]), color=RED, label="hitch")
    bx.set(xlabel="time (s)", ylabel="angle (deg)", title="lane change: angles")
    bx.legend(fontsize=7)
    for share in np.linspace(0.0, 1.0, 6):
        draw_truck(cx, back.at(share * back.time[-1]), 0.25 + 0.75 * share)
    cx.set(
        xlabel="x (m)",
        ylabel="y (m)",
        aspect="equal",
        title="reversing with straight wheels: tractor blue, trailer red",
    )
    dx.plot(back.time, np.degrees(back["Phi"]), color=RED)
    dx.set(xlabel="time (s)", ylabel="hitch angle (deg)", title="reversing")
    return figure


def draw_truck(ax: Any, at: dict[str, Any], strength: float) -> None:
    x, y, heading = (float(at[n]) for n in ("x", "y", "Theta"))
    nose, along = np.array([x, y]), np.array([np.cos(heading), np.sin(heading)])
    behind = np.array([float(at["back_x"]), float(at["back_y"])])
    ax.plot(*np.array([nose + 3.6 * along, nose]).T, color=BLUE, alpha=strength, lw=3)
    ax.plot(*np.array([nose + 0.5 * along, behind]).T, color=RED, alpha=strength, lw=3)


def double_pendulum() -> Any:
    run = run_of("double_pendulum/swing")
    figure, (left, right) = panels(1, 2, 3.2)
    left.plot(run["end_x"], run["end_z"], color=BLUE, lw=0.8)
    left.plot(0, 0, "k+")
    left.set(xlabel="x (m)", ylabel="z (m)", aspect="equal", title="path of the lower mass")
    right.plot(run.time, run["kinetic_energy"], color=BLUE, label="kinetic")
    right.plot(run.time, run["potential_energy"], color=RED, label="potential")
    right.plot(run.time, run["kinetic_energy"] + run["potential_energy"], color=GREEN, label="both")
    right.set(xlabel="time (s)", ylabel="energy (J)", title="energy")
    right.margins(y=0.2)
    right.legend(ncols=3, fontsize=7.5, loc="upper center")
    return figure


def four_bar() -> Any:
    run = run_of("four_bar/turning")
    channels = {channel.name: channel for channel in run.audit().channels}
    figure, (top, low) = panels(2, height=1.8, sharex=True)
    top.plot(run.time, run["dq1"], color=BLUE, label="crank")
    top.plot(run.time, run["dq3"], color=RED, label="rocker")
    top.set(ylabel="speed (rad/s)", title="the crank turns over and over, the rocker swings")
    top.set_ylim(-8, 31)
    top.legend(ncols=2, loc="upper left")
    low.semilogy(run.time[1:], np.maximum(channels["energy_error"].values[1:], 1e-16), color=GREEN, label="energy (J)")
    gap = channels["loops_and_constraints_gap"].values[1:]
    low.semilogy(run.time[1:], np.maximum(gap, 1e-18), color=COLOURS[3], label="closure (m)", lw=0.7)
    low.set(xlabel="time (s)", ylabel="error", title="what is lost")
    low.legend(ncols=2)
    return figure


def rolling_disc() -> Any:
    figure, (left, right) = panels(1, 2, 2.8)
    for study, colour in (("slow", RED), ("fast", BLUE)):
        run = run_of(f"rolling_disc/{study}")
        label = f"{run['vx'][0]:g} m/s"
        left.plot(run.time, np.degrees(run["lean"]), color=colour, label=label)
        right.plot(run["x"], run["y"], color=colour, label=label)
    left.set(xlabel="time (s)", ylabel="lean (deg)", title="lean")
    right.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", title="path of the centre, from above")
    left.legend()
    right.legend()
    return figure


def braked_wheel() -> Any:
    run = run_of("braked_wheel/braking")
    figure, (left, right) = panels(1, 2, 2.6)
    left.plot(run.time, run["dx"], color=BLUE, label="car")
    left.plot(run.time, 0.3 * run["dspin"], color=RED, label="rim of the wheel")
    left.set(xlabel="time (s)", ylabel="speed (m/s)", title="it rolls, slips, locks and stops")
    left.legend()
    right.plot(run.time, -run["friction_road_ahead"], color=BLUE, label="friction of the road")
    right.plot(run.time, run["torque"] / 0.3, color=RED, ls=":", label="brake torque over r")
    right.axhline(0.8 * run["load"][0], color=FAINT, lw=0.8)
    right.set(xlabel="time (s)", ylabel="force (N)", title="forces; grey: mu times the normal force")
    right.legend()
    return figure


def heavy_top() -> Any:
    run = run_of("heavy_top/spinning")
    figure, (left, right) = panels(1, 2, 3.0, width_ratios=[1, 1.25])
    left.plot(run["centre_x"], run["centre_y"], color=BLUE, lw=0.7)
    left.plot(0, 1, "o", mfc="white", mec=BLUE, ms=4)
    left.set(xlabel="x (m)", ylabel="y (m)", aspect="equal", title="centre of mass, from above")
    right.plot(run.time, run["centre_z"], color=RED, lw=0.8)
    right.set(xlabel="time (s)", ylabel="z (m)", title="nutation")
    return figure


def rx90() -> Any:
    run = run_of("rx90/stick_slip")
    figure, (top, low) = panels(2, height=2.0, sharex=True)
    for ax, name, load, reference in (
        (top, "th1", "friction1", 0.05 * np.sin(0.5 * np.pi * run.time)),
        (low, "th3", "friction3", -np.pi + 0.03 * np.sin(0.8 * np.pi * run.time)),
    ):
        for begin, end in held(run, load):
            ax.axvspan(begin, end, color=FAINT, alpha=0.45, lw=0)
        ax.plot(run.time, 1e3 * (reference - reference[0]), color=COLOURS[6], ls=":", label="asked")
        ax.plot(run.time, 1e3 * (run[name] - reference[0]), color=BLUE, label=name)
        ax.set(ylabel="angle (mrad)")
        ax.margins(y=0.22)
        ax.legend(ncols=2, loc="upper right")
    top.set(title="waist and elbow under PD control; grey: held by friction")
    low.set(xlabel="time (s)")
    return figure


def vehicles_on_tyres() -> Any:
    car, two = run_of("peugeot_406/double_turn"), run_of("two_wheel_406/double_turn")
    straight = run_of("two_wheel_406/straight")
    figure, ((a, b), (c, d)) = panels(2, 2, 2.4)
    for name, colour in (("front_left", BLUE), ("front_right", RED)):
        a.plot(car.time, 1e-3 * car[f"{name}_Fz"], color=colour, label=name.replace("_", " "))
    a.set(xlabel="time (s)", ylabel="normal load (kN)", title="four wheels: front loads")
    a.legend()
    b.plot(car.time, np.degrees(car["roll"]), color=BLUE, label="four wheels")
    b.plot(two.time, np.degrees(two["roll"]), color=RED, label="two wheels")
    b.plot(two.time, np.degrees(two["wanted_roll"]), color=RED, lw=0.8, ls=":")
    b.set(xlabel="time (s)", ylabel="roll (deg)", title="outward on four wheels, inward on two")
    b.legend()
    for name, colour in (("front", BLUE), ("rear", RED)):
        c.plot(straight.time, 1e-3 * straight[f"{name}_Fz"], color=colour, label=name)
    c.set(xlabel="time (s)", ylabel="normal load (kN)", title="straight acceleration")
    c.legend()
    d.plot(straight.time, straight["vx"], color=GREEN)
    d.set(xlabel="time (s)", ylabel="speed (m/s)", title="its speed")
    return figure


def smera() -> Any:
    brake, turn = run_of("smera/braking"), run_of("smera/double_turn")
    figure, ((a, b), (c, d), (e, f)) = panels(3, 2, 2.2)
    for name, colour, label in (("q33", BLUE, "front"), ("q5", RED, "rear")):
        a.plot(brake.time, 1e3 * (brake[name] - brake[name][0]), color=colour, label=label)
    a.set(xlabel="time (s)", ylabel="strut, from rest (mm)", title="braking: struts")
    a.legend()
    b.plot(brake.time, np.degrees(brake["pitch"]), color=GREEN, label="pitch (deg)")
    b.plot(brake.time, 10.0 * np.degrees(brake["tilt"]), color=FAINT, label="rear lyre (0.1 deg)")
    b.set(xlabel="time (s)", title="braking: nose down, lyre at rest")
    b.legend()
    c.plot(turn.time, np.degrees(turn["roll"]), color=BLUE, label="lean")
    c.plot(turn.time, np.degrees(turn["lean_reference"]), color=BLUE, lw=0.8, ls=":", label="wanted")
    c.plot(turn.time, np.degrees(turn["tilt"]), color=RED, label="rear lyre")
    c.set(xlabel="time (s)", ylabel="angle (deg)", title="double turn: lean and lyre")
    c.legend()
    for name, colour in zip(("fl", "fr", "rl", "rr"), COLOURS, strict=False):
        d.plot(turn.time, 1e-3 * turn[f"{name}_Fz"], color=colour, label=name)
    d.set(xlabel="time (s)", ylabel="normal load (kN)", title="double turn: loads")
    d.legend(ncols=2)
    e.plot(turn.time, turn["tilt_torque"], color=GREEN)
    e.set(xlabel="time (s)", ylabel="torque on the lyre (N m)", title="double turn: tilting motor")
    f.plot(turn.time, turn["perceived"], color=BLUE, label="perceived")
    f.plot(turn.time, turn["vx"] * turn["wz"], color=FAINT, label="of the path")
    f.set(xlabel="time (s)", ylabel="acceleration (m/s2)", title="double turn: sideways")
    f.legend()
    return figure


def instruments() -> Any:
    run = run_of("two_wheel_406/instrumented")
    figure, ((a, b), (c, d)) = panels(2, 2, 2.2)
    a.plot(run.time, 0.3 * run["front_encoder_speed"], color=FAINT, label="encoder")
    a.plot(run.time, run["vx"], color=BLUE, label="vehicle")
    a.set(xlabel="time (s)", ylabel="speed (m/s)", title="speed")
    b.plot(run.time, run["controller"], color=FAINT, label="wanted")
    b.plot(run.time, run["motor"], color=RED, label="motor")
    b.set(xlabel="time (s)", ylabel="torque (N m)", title="torque on the rear wheel")
    c.plot(run.time, run["unit_fx_read"], color=FAINT, label="read")
    c.plot(run.time, run["unit_fx"], color=GREEN, lw=0.6, label="inertial unit")
    c.set(xlabel="time (s)", ylabel="specific force (m/s2)", title="inertial unit")
    d.plot(run.time, 1e-3 * run["rear_hub_Fx"], color=FAINT, label="dynamometric wheel")
    d.plot(run.time, 1e-3 * run["rear_Fx"], color=BLUE, label="tyre")
    d.set(xlabel="time (s)", ylabel="force ahead (kN)", title="rear wheel")
    for ax in (a, b, c, d):
        ax.legend()
    return figure


def bmw_320i() -> Any:
    turns, step = run_of("bmw_320i/single_track_turns"), run_of("bmw_320i/step_steer")
    figure, (left, middle, right) = panels(1, 3, 2.6)
    left.plot(turns["x"], turns["y"], color=BLUE)
    left.set(xlabel="x (m)", ylabel="y (m)", title="single track, left and right")
    middle.plot(step.time, step["wz"], color=RED)
    middle.set(xlabel="time (s)", ylabel="yaw rate (rad/s)", title="four wheels, step steer")
    right.plot(step.time, np.degrees(step["roll"]), color=GREEN)
    right.set(xlabel="time (s)", ylabel="roll (deg)", title="four wheels, step steer")
    return figure


def vehicle_figure() -> Any:
    return run_of("peugeot_406/double_turn").plot("vehicle")


def bicycle_406() -> Any:
    study = "bicycle_406/turn"
    figure, ((a, b), (c, d)) = panels(2, 2, 2.4)
    for V, colour in ((5.0, GREEN), (10.0, BLUE), (15.0, PINK), (20.0, RED)):
        run = run_of(study, parameters={"V": V}, start={"vx": V})
        a.plot(run["x"], run["y"], color=colour, label=f"{V:g} m/s")
        b.plot(run.time, np.degrees(run["front_alpha"]), color=colour)
        b.plot(run.time, np.degrees(run["rear_alpha"]), color=colour, ls=":")
    a.set(xlabel="x (m)", ylabel="y (m)", title="0.05 rad at several speeds")
    a.legend()
    b.set(xlabel="time (s)", ylabel="side slip (deg)", title="front, and rear dotted")
    steering = ts.load_study(ROOT / "examples" / f"{study}.yaml").inputs["steering"].value.text
    for amplitude, colour in ((0.02, GREEN), (0.05, BLUE), (0.1, RED)):
        run = run_of(study, inputs={"steering": f"{amplitude}/0.05*({steering})"})
        c.plot(run["x"], run["y"], color=colour, label=f"{amplitude:g} rad")
        d.plot(run.time, run["vy"], color=colour)
    c.set(xlabel="x (m)", ylabel="y (m)", title="several amplitudes at 10 m/s")
    c.legend()
    d.set(xlabel="time (s)", ylabel="lateral speed (m/s)", title="lateral speed")
    return figure


def braking_406() -> Any:
    car, two = run_of("peugeot_406/braking"), run_of("two_wheel_406/braking")
    free, held = run_of("two_wheel_406/double_turn"), run_of("two_wheel_406/constant_speed")
    figure, ((a, b), (c, d)) = panels(2, 2, 2.4)
    for ax, name, factor, label in (
        (a, "vx", 1.0, "speed (m/s)"),
        (b, "pitch", 180 / np.pi, "pitch (deg)"),
    ):
        ax.plot(car.time, factor * car[name], color=BLUE, lw=3, alpha=0.5, label="four wheels")
        ax.plot(two.time, factor * two[name], color=RED, label="two wheels")
        ax.set(xlabel="time (s)", ylabel=label)
    a.set(title="braking")
    a.legend()
    for axle, colour in (("front", BLUE), ("rear", GREEN)):
        c.plot(car.time, 1e3 * car[f"travel_{axle}_left"], color=colour, lw=3, alpha=0.5, label=axle)
        c.plot(two.time, 1e3 * two[f"travel_{axle}"], color=RED)
    c.set(xlabel="time (s)", ylabel="travel (mm)", title="travels, two wheels in red")
    c.legend()
    d.plot(free.time, free["vx"], color=BLUE, label="free")
    d.plot(held.time, held["vx"], color=RED, label="held")
    d.set(xlabel="time (s)", ylabel="speed (m/s)", title="double turn on two wheels")
    d.legend()
    return figure


def tractor_on_tyres() -> Any:
    run = run_of("tractor_on_tyres/lane_change")
    figure, (a, b) = panels(1, 2, 2.6)
    a.plot(run.time, np.degrees(run["steering"]), color=GREEN, label="steering")
    a.plot(run.time, np.degrees(run["articulation"]), color=RED, label="articulation")
    a.plot(run.time, np.degrees(run["roll"]), color=BLUE, label="roll of the tractor")
    a.set(xlabel="time (s)", ylabel="angle (deg)", title="angles")
    a.legend()
    for axle, colour in (("front", BLUE), ("rear", PINK), ("trailer", RED)):
        b.plot(run.time, 1e-3 * run[f"{axle}_left_Fz"], color=colour, label=f"{axle} left")
        b.plot(run.time, 1e-3 * run[f"{axle}_right_Fz"], color=colour, ls=":")
    b.set(xlabel="time (s)", ylabel="normal load (kN)", title="loads, right dotted")
    b.legend()
    return figure


def five_link_axle() -> Any:
    run = run_of("five_link_axle/lane_change")
    model = ts.build(run.mechanism)
    base, hub = (np.array([model.pose(q, frame) for q in run.q]) for frame in ("base", "hub_rear_left"))
    seen = np.linalg.inv(base) @ hub
    travel = 1e3 * (seen[:, 2, 3] + 0.25)
    figure, (a, b, c) = panels(1, 3, 2.8)
    a.plot(travel, -np.degrees(np.arcsin(seen[:, 2, 1])), color=BLUE, label="camber")
    a.plot(travel, np.degrees(np.arcsin(seen[:, 0, 1])), color=RED, label="toe-in")
    a.set(xlabel="travel (mm)", ylabel="angle (deg)", title="rear left wheel")
    b.plot(run.time, np.degrees(run["steering"]), color=GREEN, label="steering")
    b.plot(run.time, np.degrees(run["roll"]), color=BLUE, label="roll")
    b.set(xlabel="time (s)", ylabel="angle (deg)", title="lane change")
    for axle, colour in (("front", BLUE), ("rear", RED)):
        c.plot(run.time, 1e-3 * run[f"{axle}_left_Fz"], color=colour, label=f"{axle} left")
        c.plot(run.time, 1e-3 * run[f"{axle}_right_Fz"], color=colour, ls=":")
    c.set(xlabel="time (s)", ylabel="normal load (kN)", title="loads, right dotted", ylim=(2.2, 5.7))
    for ax, place in ((a, "center right"), (b, "upper right"), (c, "lower right")):
        ax.legend(fontsize=7, loc=place)
    return figure


def smera_lyre() -> Any:
    """Lean over the angle of the rear lyre: loops and contacts closed by the general method, the struts held."""
    model = ts.build(ts.load(ROOT / "examples" / "smera" / "smera.yaml"))
    names = [x.name for x in model.mechanism.q]
    rest = dict(zip(names, model.assemble().q, strict=True))
    figure, (left, right) = panels(1, 2, 2.8)
    for travel, colour in ((-0.04, RED), (0.0, BLUE), (0.04, GREEN)):
        lyre, found = leans(model, names, rest, travel)
        left.plot(lyre, np.degrees(found[:, names.index("roll")]), color=colour, label=f"{1e3 * travel:+.0f} mm")
        for strut, style in (("q33", "-"), ("q35", ":")):
            right.plot(lyre, 1e3 * (found[:, names.index(strut)] - rest[strut]), color=colour, ls=style)
    left.set(xlabel="rear lyre (deg)", ylabel="lean (deg)", title="lean; rear struts longer by")
    left.legend()
    right.set(xlabel="rear lyre (deg)", ylabel="front strut, from rest (mm)", title="front struts, right ones dotted")
    return figure


def leans(model: Any, names: list[str], rest: dict[str, float], travel: float) -> tuple[Any, Any]:
    """Angles of the rear lyre in degrees, and all coordinates of the car that stands level fore and aft."""
    held = ["x", "y", "yaw", "pitch", "q2", "q5", "q8", "q19", "q25", "q11", "q15", "q21", "q27"]
    lyre, found = np.linspace(-50, 50, 41), {}
    for order in (range(20, 41), range(20, -1, -1)):  # outwards from upright, each begins where the last one ended
        guess = dict(rest)
        for k in order:
            guess |= {"q2": np.pi / 2 + np.radians(lyre[k]), "q5": rest["q5"] + travel, "q8": rest["q8"] + travel}
            found[k] = model.assemble(guess, hold=held).q
            guess = dict(zip(names, found[k], strict=True))
    return lyre, np.array([found[k] for k in range(41)])


WAYS = {
    "motor": {},
    "steering": {"direct": 0.0, "steered": 1.0},
    "half and half": {"direct": 0.5, "steered": 0.5, "demand": 1.0},
}


def smera_tilting() -> Any:
    """The lane change by every way to lean, and the loss of the motor."""
    runs = {way: run_of("smera/lane_change", parameters=p) for way, p in WAYS.items()}
    runs["locked"] = run_of("smera/lane_change_upright")
    lost = {way: run_of("smera/motor_loss", parameters={"steered": x}) for way, x in (("falls", 0.0), ("steers", 1.0))}
    figure, ((a, b), (c, d), (e, f)) = panels(3, 2, 2.1)
    for (way, run), colour in zip(runs.items(), (BLUE, RED, GREEN, FAINT), strict=True):
        a.plot(run["x"], run["y"], color=colour, label=way)
        b.plot(run.time, np.degrees(run["roll"]), color=colour)
        c.plot(run.time, run["perceived"], color=colour)
        d.plot(run.time, np.degrees(run["steering"]), color=colour)
    a.set(xlabel="x (m)", ylabel="y (m)", title="lane change at 15 m/s")
    a.legend(fontsize=7)
    b.set(xlabel="time (s)", ylabel="lean (deg)", title="lean")
    c.set(xlabel="time (s)", ylabel="m/s2", title="acceleration that passengers feel")
    d.set(xlabel="time (s)", ylabel="steering (deg)", title="first it turns away, if it steers to lean")
    for (way, run), colour in zip(lost.items(), (RED, BLUE), strict=True):
        e.plot(run.time, np.degrees(run["roll"]), color=colour, label=way)
        f.plot(run.time, np.degrees(run["steering"]), color=colour)
    for ax in (e, f):
        ax.axvline(4.0, color=FAINT, lw=0.6, ls=":")
    e.set(xlabel="time (s)", ylabel="lean (deg)", title="the motor is lost at 4 s", ylim=(-20, 42))
    e.legend()
    f.set(xlabel="time (s)", ylabel="steering (deg)", title="its steering")
    return figure


def smera_models() -> Any:
    smera, two = run_of("smera/double_turn"), run_of("smera_11dof/double_turn")
    damped = run_of("smera/double_turn", parameters={"FVr": 4500.0})
    figure, axes = panels(4, 2, 2.1)
    a, b, c, d = axes[:2].ravel()
    for run, colour, label in ((smera, BLUE, "Smera"), (two, RED, "11 dof")):
        a.plot(run.time, np.degrees(run["lean_reference"]), color=colour, label=label)
        b.plot(run.time, run["lean"], color=colour, label=label)
        c.plot(run.time, run["perceived"], color=colour, label=label)
        d.plot(run["x"], run["y"], color=colour, label=label)
    b.plot(damped.time, damped["lean"], color=BLUE, lw=0.8, ls=":", label="Smera, three times FVr")
    a.set(xlabel="time (s)", ylabel="angle (deg)", title="wanted lean")
    b.set(xlabel="time (s)", ylabel="torque (N m)", title="tilt torque")
    c.set(xlabel="time (s)", ylabel="acceleration (m/s2)", title="perceived")
    d.set(xlabel="x (m)", ylabel="y (m)", title="path")
    names = {"Fv_roll": (30.0, 40.0, 120.0), "K_roll": (1000.0, 3000.0, 9000.0), "K_f": (0.0, 400.0, 800.0)}
    names |= {"I_a": (5.0, 10.0, 20.0)}
    many, torques = sensitivity(names)
    for ax, (name, values) in zip(axes[2:].ravel(), names.items(), strict=True):
        for value, colour in zip(values, (RED, BLUE, GREEN), strict=True):
            ax.plot(many.time, torques[name, value], color=colour, lw=1.0, label=f"{value:g}")
        ax.set(xlabel="time (s)", ylabel="motor torque (N m)", title=f"transmission: {name}")
    for ax in axes.ravel():
        ax.legend(fontsize=7)
    return figure


def sensitivity(names: dict[str, tuple[float, ...]]) -> tuple[Any, dict[tuple[str, float], Any]]:
    """The double turn behind the virtual transmission for all values of all parameters, in one batch."""
    rows = [(name, value) for name, values in names.items() for value in values]
    base = {name: values[0] if name == "K_f" else values[1] for name, values in names.items()}
    varied = {name: [value if name == each else base[name] for each, value in rows] for name in base}
    study = ts.load_study(ROOT / "examples" / "smera_11dof" / "flexible.yaml")
    many = ts.simulate_many(study, parameters=varied, solver={"method": "rk4", "step": 2e-3}, every=0.01)
    wanted = -np.arctan(many["vx"] * many["wz"] / 9.81)
    torque = 6000.0 * (wanted - many["roll"]) - 600.0 * many["wx"]
    return many, dict(zip(rows, torque, strict=True))


def held(run: Run, load: str) -> list[tuple[float, float]]:
    """The times in which a joint sticks; it starts so."""
    times, begin = [], 0.0
    for event in run.events:
        if event.name == load and event.what == "sticks":
            begin = event.time
        elif event.name == load and event.what == "slides":
            times.append((begin, event.time))
    return times


PICTURES: dict[str, Callable[[], Any]] = {
    draw.__name__: draw
    for draw in (
        planar_2r,
        arm_3r,
        welding_arm,
        motorised_6r,
        satellite_arm,
        tractor_trailer,
        double_pendulum,
        four_bar,
        rolling_disc,
        braked_wheel,
        heavy_top,
        rx90,
        vehicles_on_tyres,
        smera,
        smera_models,
        smera_lyre,
        smera_tilting,
        instruments,
        bmw_320i,
        vehicle_figure,
        bicycle_406,
        braking_406,
        tractor_on_tyres,
        five_link_axle,
    )
}


def main(names: list[str]) -> None:
    TARGET.mkdir(exist_ok=True)
    for name in names or PICTURES:
        path = TARGET / f"{name}.png"
        with styled():
            save_figure(PICTURES[name](), path)
        with Image.open(path) as picture:  # lines need few colours: a third of the size
            small = picture.convert("RGB").quantize(48)
        small.save(path, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
