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
BLUE, RED, GREEN = COLOURS[0], COLOURS[1], COLOURS[2]


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
