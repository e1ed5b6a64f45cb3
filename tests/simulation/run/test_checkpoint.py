"""A run that is lost and goes on from its checkpoint is, to the last bit, the run that was never lost."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.describe import Effort, Mechanism, SpringDamper
from torseur.simulation.run.checkpoint import Checkpoint
from torseur.simulation.run.simulate import study_of


class Lost(Exception):
    pass


class Losing(Checkpoint):
    """The process dies after some checkpoints."""

    left = 1

    def offer(self, memory):
        super().offer(memory)
        self.left -= 1
        if not self.left:
            raise Lost


def lost_and_resumed(study, path, after):
    """The run of a study that was lost after so many checkpoints and went on from the last."""
    checkpoint = Losing(path, study, seconds=0.0)
    checkpoint.left = after
    with pytest.raises(Lost):
        ts.Simulation(study).run(checkpoint=checkpoint)
    return ts.resume(path, every_seconds=1e9)


def assert_same(a, b):
    np.testing.assert_array_equal(a.time, b.time)
    assert list(a.channels) == list(b.channels)
    for name in a.channels:
        assert a[name].tobytes() == b[name].tobytes(), name
    assert a.events == b.events
    assert str(a.audit()) == str(b.audit())
    facts = [{k: v for k, v in run.info.items() if k != "wall_time"} for run in (a, b)]
    assert facts[0] == facts[1]


def cart(**more):
    """A cart that is pushed against dry friction and a stop."""
    joint = {"kind": "prismatic", "coordinate": "x", "lower": -0.35, "upper": 0.35}
    return Mechanism(
        name="cart",
        gravity=(0.0, 0.0, 0.0),
        bodies={"cart": {"joint": joint, "inertia": {"M": "m"}}},
        parameters={"m": {"value": 2.0}},
        loads={
            "rail": SpringDamper(coordinate="x", friction=1.5, stiffness=40.0),
            "push": Effort(coordinate="x", value="f"),
        },
        inputs={"f": {}},
        **more,
    )


def busy(method, **solver):
    """Friction, impacts, a sampled controller, a step of the input, a change of a parameter."""
    return study_of(
        cart(),
        until=6.0,
        every=0.03,
        start={"x": 0.3},
        inputs={"f": "9*sin(4.5*t) + jolt - held"},
        blocks={
            "jolt": {"step": {"time": 2.345, "after": 4.0}},
            "held": {"sampled": {"value": "2*dx", "period": 0.05}},
        },
        stops={"model": "hard", "restitution": 0.6},
        changes=[{"at": 3.7, "set": {"m": 2.5}}],
        solver={"method": method, **solver},
    )


@pytest.fixture(scope="module")
def whole():
    runs = {}

    def of(method, **solver):
        if method not in runs:
            runs[method] = ts.Simulation(busy(method, **solver)).run()
        return runs[method]

    return of


@pytest.mark.parametrize("after", [1, 4, 11])
@pytest.mark.parametrize("method", ["dopri5", "dop853"])
def test_steps_by_error_with_friction_impacts_samples_and_changes(method, after, whole, tmp_path):
    run = whole(method)
    assert {"sticks", "slides", "hits and rebounds"} <= {e.what for e in run.events}
    assert_same(lost_and_resumed(busy(method), tmp_path / "left", after), run)


def test_given_steps_with_samples_do_not_drift(whole, tmp_path):
    run = whole("rk4", step=1.3e-3)
    assert_same(lost_and_resumed(busy("rk4", step=1.3e-3), tmp_path / "left", 57), run)


def swing(method, **solver):
    rod = {"joint": {"kind": "revolute", "coordinate": "a"}, "inertia": {"M": 1.0, "MX": 0.5, "ZZ": 0.4}}
    loads = {"push": Effort(coordinate="a", value="f")}
    pendulum = Mechanism(
        name="pendulum", gravity=(9.81, 0.0, 0.0), bodies={"rod": rod}, loads=loads, inputs={"f": {"unit": "N m"}}
    )
    inputs = {"f": "3*sin(t^2)"}
    return study_of(
        pendulum, until=20.0, every=0.01, start={"a": 0.5}, inputs=inputs, solver={"method": method, **solver}
    )


@pytest.mark.parametrize("after", [1, 2])
def test_the_native_loop_of_given_steps(after, tmp_path):
    study = swing("rk4", step=7e-4 / 7.0)
    run = ts.Simulation(study).run()
    assert len(run) == 2001
    assert_same(lost_and_resumed(study, tmp_path / "left", after), run)


@pytest.mark.parametrize("method", ["newmark", "rodas"])
def test_implicit_methods(method, tmp_path):
    study = swing(method)
    assert_same(lost_and_resumed(study, tmp_path / "left", 5), ts.Simulation(study).run())


def test_a_run_can_be_lost_again_and_again(whole, tmp_path):
    path, study = tmp_path / "left", busy("dopri5")
    ts.simulate(study, checkpoint=path, every_seconds=0.0)  # the last one it left, shortly before the end
    assert_same(ts.resume(path, every_seconds=0.0), whole("dopri5"))
    assert_same(ts.resume(path), whole("dopri5"))


def test_what_is_not_a_checkpoint_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "left"
    with pytest.raises(ts.ArgumentError, match="cannot be read"):
        ts.resume(path)
    path.write_bytes(b"no checkpoint")
    with pytest.raises(ts.ArgumentError, match="not a checkpoint"):
        ts.resume(path)
    ts.simulate(swing("dopri5"), checkpoint=path, every_seconds=0.0)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ts.ArgumentError, match="damaged"):
        ts.resume(path)
    ts.simulate(swing("dopri5"), checkpoint=path, every_seconds=0.0)
    monkeypatch.setattr("torseur.simulation.run.checkpoint.__version__", "0.0.0")
    with pytest.raises(ts.ArgumentError, match="the version it began with"):
        ts.resume(path)


def test_a_checkpoint_that_cannot_be_written_does_not_stop_the_run(tmp_path):
    with pytest.raises(ts.ArgumentError, match="no folder"):
        ts.simulate(swing("dopri5"), checkpoint=tmp_path / "nowhere" / "left")
    (tmp_path / "left").mkdir()
    with pytest.warns(ts.TorseurWarning, match="no checkpoint is left"):
        run = ts.simulate(swing("dopri5"), checkpoint=tmp_path / "left", every_seconds=0.0)
    assert run.complete


def test_blocks_written_in_python_keep_no_checkpoint(tmp_path):
    blocks = {"wave": {"python": {"function": lambda t: t, "period": 0.1}}}
    study = study_of(cart(), until=1.0, blocks=blocks)
    with pytest.raises(ts.ModelError, match="wave"):
        ts.simulate(study, checkpoint=tmp_path / "left")
