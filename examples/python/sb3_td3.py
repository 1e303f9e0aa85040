"""A TD3 agent of Stable-Baselines3 that chooses how many devices train.

python examples/python/sb3_td3.py [STEPS]

Needs stable-baselines3. A few minutes on two cores with the 4 000 steps that are the default; the worlds are dry (nobody trains), so that a run takes
milliseconds. Prints what the agent gets under seeds that it has not seen, beside agents that always answer the same.
"""

from __future__ import annotations

import sys

import aerofed
import aerofed.gym
import numpy as np
from numpy.typing import NDArray
from stable_baselines3 import TD3
from stable_baselines3.common.noise import NormalActionNoise

SEEDS = range(1001, 1006)


def scenario() -> aerofed.Scenario:
    """The quick start without its fault, for 20 rounds."""
    return aerofed.Scenario.load("quickstart", faults=[], **{"stop.max_rounds": 20, "stop.target_accuracy": 1.0})


def mean_return(environment: aerofed.gym.ThresholdEnv, agent: TD3 | float) -> float:
    """What an agent, or the same action always, gets in a run."""
    sums = []
    for seed in SEEDS:
        observation, _ = environment.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            if isinstance(agent, float):
                action: NDArray[np.float32] = np.full(5, agent, np.float32)
            else:
                action = agent.predict(observation, deterministic=True)[0]
            observation, reward, terminated, truncated, _ = environment.step(action)
            total += reward
            over = terminated or truncated
        sums.append(total)
    return float(np.mean(sums))


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    environment = aerofed.gym.ThresholdEnv(scenario(), dry=True)
    noise = NormalActionNoise(np.zeros(5), 0.2 * np.ones(5))
    agent = TD3("MlpPolicy", environment, action_noise=noise, learning_starts=min(500, steps // 2), seed=1)
    agent.learn(total_timesteps=steps)
    choices: dict[str, TD3 | float] = {"TD3": agent, "always 0.0": 0.0, "always 0.5": 0.5, "always 1.0": 1.0}
    for name, choice in choices.items():
        print(f"{name:10} {mean_return(environment, choice):8.3f}")


if __name__ == "__main__":
    main()
