"""The choice of devices as an environment: Gymnasium's, its vector version, and PettingZoo's.

In each global round every UAV sees a state, answers with an action of 0 to 1 that sets its threshold (0: the most devices that it may take, 1: the fewest), and
gets a reward when the round is over. States, actions and rewards are those of the scenario's ``[td3]`` table (``docs/td3.md``).

>>> import gymnasium
>>> import aerofed.gym
>>> environment = gymnasium.make("aerofed/Threshold-v0", rounds=2)
>>> observation, info = environment.reset(seed=7)

``import aerofed.gym`` registers the environments; it needs gymnasium, and ``parallel_env`` pettingzoo.
"""

from __future__ import annotations

import os
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from ._aerofed import NativeEnvironments, Round
from ._scenario import Scenario, as_scenario
from ._simulation import changes_of

__all__ = ["ThresholdEnv", "ThresholdVectorEnv", "parallel_env"]

Array = NDArray[np.float32]
States = list[Array | None]

# What states and rewards never leave.
LIMIT = 10.0


class Worlds:
    """Runs whose thresholds are chosen from outside, and what they have in common."""

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str] | None,
        rounds: int | None,
        dry: bool,
        count: int,
        threads: int,
    ) -> None:
        changes = changes_of(None, None, rounds, dry) | {"association.kind": "td3"}
        self.scenario = as_scenario(scenario, changes)
        self.native = NativeEnvironments(self.scenario._native, count, threads)
        self.uavs = self.native.uavs
        self.length = self.native.state_length

    def row(self, states: States) -> Array:
        """States of all UAVs behind each other, each with a 1 before it; zeros for those who are not there."""
        row = np.zeros((self.uavs, 1 + self.length), np.float32)
        for uav, state in enumerate(states):
            if state is not None:
                row[uav, 0] = 1.0
                row[uav, 1:] = state
        return row.reshape(-1)

    def observation_space(self) -> spaces.Space[Array]:
        """Of one run."""
        return box(-LIMIT, LIMIT, self.uavs * (1 + self.length))

    def action_space(self) -> spaces.Space[Array]:
        """Of one run."""
        return box(0.0, 1.0, self.uavs)


def box(low: float, high: float, length: int) -> spaces.Space[Array]:
    """So many numbers between two ends."""
    return cast(spaces.Space[Array], spaces.Box(low, high, (length,), np.float32))


def told(played: Round) -> dict[str, float]:
    """What a step says about its round."""
    return {
        "round": played.round,
        "test_accuracy": played.test_accuracy,
        "validation_accuracy": played.validation_accuracy,
        "clock_s": played.clock_s,
        "cumulative_energy_j": played.cumulative_energy_j,
        "selected": played.selected,
    }


def seed_of(generator: np.random.Generator) -> int:
    """The seed of a run."""
    return int(generator.integers(2**63))


class ThresholdEnv(gymnasium.Env[Array, Array]):
    """One agent that sets the thresholds of all UAVs: ``aerofed/Threshold-v0``.

    An episode is a run. ``reset(seed=...)`` runs the scenario under that seed; without one a seed is drawn. The reward is the mean over UAVs that have an action.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str] | None = None,
        *,
        rounds: int | None = None,
        dry: bool = False,
        threads: int = 1,
    ) -> None:
        self._worlds = Worlds(scenario, rounds, dry, 1, threads)
        self.observation_space = self._worlds.observation_space()
        self.action_space = self._worlds.action_space()
        self._there: list[bool] = []

    @property
    def scenario(self) -> Scenario:
        """What is run."""
        return self._worlds.scenario

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begins a run."""
        super().reset(seed=seed)
        chosen = seed if seed is not None else seed_of(self.np_random)
        states = self._worlds.native.reset([chosen])[0] or []
        self._there = [state is not None for state in states]
        return self._worlds.row(states), {"seed": chosen}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Plays a round."""
        played = self._worlds.native.step([np.asarray(action, np.float32).tolist()])[0]
        assert played is not None
        states, rewards, over, done = played
        reward = mean_reward(rewards, self._there)
        self._there = [state is not None for state in states]
        terminated, truncated = ended(over, done, self.scenario)
        return self._worlds.row(states), reward, terminated, truncated, told(done)


def mean_reward(rewards: Array, there: list[bool]) -> float:
    """The mean reward of those who had an action."""
    chosen = rewards[np.asarray(there, bool)] if any(there) else rewards
    return float(chosen.mean())


def ended(over: bool, done: Round, scenario: Scenario) -> tuple[bool, bool]:
    """Whether a run reached its end, and whether it was cut off by its number of rounds."""
    cut_off = over and done.round >= scenario.stop.max_rounds
    return over and not cut_off, cut_off


class ThresholdVectorEnv(VectorEnv[Array, Array, NDArray[Any]]):
    """Several runs side by side, each round on a thread of its own: ``gymnasium.make_vec("aerofed/Threshold-v0", num_envs=8,
    vectorization_mode="vector_entry_point")``.

    A run that is over begins anew with the next step, whose action is not used.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        scenario: Scenario | str | os.PathLike[str] | None = None,
        *,
        rounds: int | None = None,
        dry: bool = False,
        threads: int = 1,
    ) -> None:
        self._worlds = Worlds(scenario, rounds, dry, num_envs, threads)
        self.num_envs = num_envs
        self.single_observation_space = self._worlds.observation_space()
        self.single_action_space = self._worlds.action_space()
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, num_envs)
        self.action_space = batch(self.single_action_space, num_envs)
        self._over = [False] * num_envs
        self._there: list[list[bool]] = [[] for _ in range(num_envs)]

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begins all runs; one seed is that of the first, and the next ones follow."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is None:
            seeds: list[int | None] = [seed_of(self.np_random) for _ in range(self.num_envs)]
        elif isinstance(seed, int):
            seeds = [seed + place for place in range(self.num_envs)]
        else:
            seeds = [seed_of(self.np_random) if one is None else one for one in seed]
        rows = np.stack([self._begin(place, states or []) for place, states in enumerate(self._worlds.native.reset(seeds))])
        return rows, {"seed": np.array(seeds, np.int64)}

    def _begin(self, place: int, states: States) -> Array:
        self._over[place] = False
        self._there[place] = [state is not None for state in states]
        return self._worlds.row(states)

    def step(self, actions: Array) -> tuple[Array, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Plays a round of each run, or begins those anew that are over."""
        anew = [seed_of(self.np_random) if over else None for over in self._over]
        begun = self._worlds.native.reset(anew) if any(self._over) else [None] * self.num_envs
        given = [None if over else np.asarray(row, np.float32).tolist() for over, row in zip(self._over, actions, strict=True)]
        played = self._worlds.native.step(given)
        rows = np.zeros((self.num_envs, *(self.single_observation_space.shape or ())), np.float32)
        rewards = np.zeros(self.num_envs, np.float64)
        terminated = np.zeros(self.num_envs, np.bool_)
        truncated = np.zeros(self.num_envs, np.bool_)
        infos: dict[str, Any] = {}
        for place in range(self.num_envs):
            states = begun[place]
            if states is not None:
                rows[place] = self._begin(place, states)
                infos = self._add_info(infos, {"seed": anew[place]}, place)
                continue
            outcome = played[place]
            assert outcome is not None
            states, reward, over, done = outcome
            rewards[place] = mean_reward(reward, self._there[place])
            rows[place] = self._begin(place, states)
            self._over[place] = over
            terminated[place], truncated[place] = ended(over, done, self._worlds.scenario)
            infos = self._add_info(infos, told(done), place)
        return rows, rewards, terminated, truncated, infos


def parallel_env(
    scenario: Scenario | str | os.PathLike[str] | None = None,
    *,
    rounds: int | None = None,
    dry: bool = False,
    threads: int = 1,
) -> Any:
    """One agent for each UAV, as a PettingZoo ``ParallelEnv``: ``uav_0``, ``uav_1``, ...

    A UAV that covers nobody, or is not there, sees zeros, and its action does nothing.
    """
    from ._zoo import ThresholdParallelEnv

    return ThresholdParallelEnv(Worlds(scenario, rounds, dry, 1, threads))


gymnasium.register(
    id="aerofed/Threshold-v0",
    entry_point="aerofed.gym:ThresholdEnv",
    vector_entry_point="aerofed.gym:ThresholdVectorEnv",
)
