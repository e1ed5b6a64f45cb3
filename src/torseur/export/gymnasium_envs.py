"""A study as a batch of environments of Gymnasium (extra ``gymnasium``): all runs advance together, in native code.

Actions are the inputs that nothing drives, held for one control period, the `every` of the study. Observations are
coordinates and speeds, or what is named: states and outputs of the study. The reward is an output as well, a formula in
the description; so is the end of an episode. After `until` an episode is truncated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from torseur.describe.faults import guess
from torseur.errors import ArgumentError, MissingExtra
from torseur.model import Model
from torseur.simulation.run.control_steps import ControlSteps, Places
from torseur.simulation.solvers.problem import Array
from torseur.simulation.study.study import Study

try:
    import gymnasium
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space
except ImportError:
    raise MissingExtra("gymnasium", extra="gymnasium", purpose="a batch of environments") from None

__all__ = ["Environments", "environments"]

Ranges = Mapping[str, tuple[float, float]]


def environments(model: Model, study: Study, runs: int = 1, **options: Any) -> Environments:
    """The environments of a study, whose mechanism must be that of the model; see `Environments`."""
    if not isinstance(study, Study):
        raise ArgumentError("environments are made of a study", got=repr(study)[:60], remedy="ts.load_study(file)")
    if study.model != model.mechanism:
        raise ArgumentError("the study is of another mechanism", expected=model.mechanism.name, got=study.model.name)
    given = {**model.given, **study.parameters}
    return Environments(study.model_copy(update={"parameters": given}), runs, **options)


class Environments(VectorEnv):  # type: ignore[misc]  # gymnasium is not looked into
    """Runs of one study side by side.

    Args:
        study: with a fixed-step method and without events; `every` is the control period.
        runs: how many environments.
        actions: input -> its bounds; by default all inputs that nothing drives, without bounds.
        observations: names of states and outputs; by default coordinates and speeds.
        reward: the output that is the reward of a step, read at its end; none: 0.
        ends: the output that ends an episode where it is not 0; a state that is not finite ends it in any case.
        starts: coordinate or speed -> the range from which its start is drawn, evenly.
        threads: how many share the runs.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012  # as gymnasium has it

    def __init__(
        self,
        study: Study,
        runs: int = 1,
        *,
        actions: Ranges | None = None,
        observations: Sequence[str] | None = None,
        reward: str | None = None,
        ends: str | None = None,
        starts: Ranges | None = None,
        threads: int = 1,
    ) -> None:
        self.runs = steps = ControlSteps(study, runs, threads)
        bounds = dict.fromkeys(steps.inputs, (-np.inf, np.inf)) if actions is None else dict(actions)
        _known(bounds, steps.inputs, "input that nothing drives")
        _known(starts or {}, steps.simulation.names, "coordinate or speed")
        self.actions = tuple(bounds)
        self.observations = tuple(steps.simulation.names if observations is None else observations)
        self._reward, self._ends, self._starts = reward, ends, dict(starts or {})
        for names in (self.observations, *((name,) for name in (reward, ends) if name is not None)):
            _known(names, steps.names, "state or output")
        low, high = (np.array([bounds[n][side] for n in bounds]) for side in (0, 1))
        self.single_action_space = gymnasium.spaces.Box(low, high, dtype=np.float64)
        size = (len(self.observations),)
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, size, dtype=np.float64)
        self.num_envs = runs
        self.action_space = batch_space(self.single_action_space, runs)
        self.observation_space = batch_space(self.single_observation_space, runs)
        self._over = np.ones(runs, dtype=bool)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Start all runs anew, or those of ``options={"reset_mask": ...}``; the same seed gives the same starts."""
        super().reset(seed=seed)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=bool))
        self._begin(np.flatnonzero(mask))
        return self._observed(), {}

    def _begin(self, which: Places) -> None:
        drawn = {n: self.np_random.uniform(low, high, len(which)) for n, (low, high) in self._starts.items()}
        self.runs.begin(which, drawn)
        self._over[which] = False

    def _observed(self) -> Array:
        return self.runs.values(self.observations)

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        """One control period with the inputs held; runs that were over begin anew instead."""
        given = np.asarray(actions, dtype=float)
        if given.shape != self.action_space.shape:
            raise ArgumentError("wrong shape of actions", expected=str(self.action_space.shape), got=str(given.shape))
        given = np.clip(given, self.action_space.low, self.action_space.high)
        over, on = np.flatnonzero(self._over), np.flatnonzero(~self._over)
        self.runs.go_on(on, {n: given[on, k] for k, n in enumerate(self.actions)})
        self._begin(over)
        lost = ~np.isfinite(self.runs.x).all(axis=1)
        ended = lost | (self._value(self._ends) != 0.0)
        ended[over] = False
        cut = ~ended & (self.runs.count >= self.runs.last)
        cut[over] = False
        rewards = np.where(np.isin(np.arange(self.num_envs), over), 0.0, self._value(self._reward))
        self._over = ended | cut
        return self._observed(), rewards, ended, cut, {}

    def _value(self, name: str | None) -> Array:
        return np.zeros(self.num_envs) if name is None else self.runs.values([name])[:, 0]


def _known(names: Any, known: Sequence[str], what: str) -> None:
    for name in names:
        if name not in known:
            expected, remedy = guess(name, known)
            raise ArgumentError(f"no {what} '{name}'", expected=expected, remedy=remedy)
