"""One agent for each UAV, as PettingZoo has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv  # type: ignore[import-untyped, import-not-found, unused-ignore]

from .gym import LIMIT, Array, States, Worlds, box, ended, seed_of, told


class ThresholdParallelEnv(ParallelEnv[str, Array, Array]):  # type: ignore[misc, unused-ignore]
    """Every UAV sets its own threshold. All of them stay until the run is over."""

    metadata: dict[str, Any] = {"render_modes": [], "name": "aerofed_threshold_v0", "is_parallelizable": True}

    def __init__(self, worlds: Worlds) -> None:
        self._worlds = worlds
        self.possible_agents = [f"uav_{uav}" for uav in range(worlds.uavs)]
        self.agents: list[str] = []
        self.render_mode = None
        seen = box(-LIMIT, LIMIT, 1 + worlds.length)
        chosen = box(0.0, 1.0, 1)
        self.observation_spaces = {agent: seen for agent in self.possible_agents}
        self.action_spaces = {agent: chosen for agent in self.possible_agents}
        self._random = np.random.default_rng()

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The agent's state, with a 1 before it, or zeros where it has none."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """0: the most devices that the UAV may take, 1: the fewest."""
        return self.action_spaces[agent]

    def _seen(self, states: States) -> dict[str, Array]:
        rows = self._worlds.row(states).reshape(self._worlds.uavs, -1)
        return dict(zip(self.possible_agents, rows, strict=True))

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
        """Begins a run under a seed; without one it is drawn."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        chosen = seed if seed is not None else seed_of(self._random)
        states = self._worlds.native.reset([chosen])[0] or []
        self.agents = list(self.possible_agents)
        return self._seen(states), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, Array]
    ) -> tuple[dict[str, Array], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Plays a round."""
        row = [float(np.ravel(actions[agent])[0]) if agent in actions else 0.0 for agent in self.possible_agents]
        played = self._worlds.native.step([row])[0]
        assert played is not None
        states, rewards, over, done = played
        terminated, truncated = ended(over, done, self._worlds.scenario)
        agents = self.agents
        if over:
            self.agents = []
        return (
            {agent: row for agent, row in self._seen(states).items() if agent in agents},
            {agent: float(reward) for agent, reward in zip(self.possible_agents, rewards, strict=True) if agent in agents},
            {agent: terminated for agent in agents},
            {agent: truncated for agent in agents},
            {agent: dict(told(done)) for agent in agents},
        )

    def render(self) -> None:
        """There is nothing to draw while a run is under way; ``aerofed.run`` has pages."""
