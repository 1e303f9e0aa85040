"""Environments: the checks of their makers, and seeds."""

from __future__ import annotations

import warnings

import aerofed
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
import aerofed.gym  # noqa: E402


@pytest.fixture(scope="module")
def scenario(small: aerofed.Scenario) -> aerofed.Scenario:
    return small.with_(**{"stop.max_rounds": 4})


def test_gymnasium_accepts_the_environment(scenario: aerofed.Scenario) -> None:
    from gymnasium.utils.env_checker import check_env

    environment = gymnasium.make("aerofed/Threshold-v0", scenario=scenario)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(environment.unwrapped, skip_render_check=True)
    assert environment.action_space.shape == (5,)


def played(environment: object, seed: int, action: float) -> tuple[list[float], list[float]]:
    observation, _ = environment.reset(seed=seed)  # type: ignore[attr-defined]
    sums, rewards, over = [float(observation.sum())], [], False
    while not over:
        step = environment.step(np.full(5, action, np.float32))  # type: ignore[attr-defined]
        observation, reward, terminated, truncated, info = step
        sums.append(float(observation.sum()))
        rewards.append(reward)
        over = terminated or truncated
    assert truncated and info["round"] == 4
    return sums, rewards


def test_a_seed_repeats_an_episode_and_actions_matter(scenario: aerofed.Scenario) -> None:
    environment = gymnasium.make("aerofed/Threshold-v0", scenario=scenario)
    first = played(environment, 7, 0.2)
    assert played(environment, 7, 0.2) == first
    assert played(environment, 8, 0.2) != first
    assert played(environment, 7, 1.0)[1] != first[1]
    drawn = [environment.reset()[1]["seed"] for _ in range(2)]
    environment.reset(seed=7)
    assert [environment.reset()[1]["seed"] for _ in range(2)] == drawn and drawn[0] != drawn[1]
    with pytest.raises(ValueError, match="2 actions for 5 UAVs"):
        environment.unwrapped.step(np.zeros(2, np.float32))


def test_a_step_after_the_end_is_refused(scenario: aerofed.Scenario) -> None:
    environment = aerofed.gym.ThresholdEnv(scenario, rounds=1)
    with pytest.raises(RuntimeError, match="reset first"):
        environment.step(np.zeros(5, np.float32))
    environment.reset(seed=1)
    environment.step(np.zeros(5, np.float32))
    with pytest.raises(RuntimeError, match="reset first"):
        environment.step(np.zeros(5, np.float32))


def test_the_vector_version_plays_the_same_runs(scenario: aerofed.Scenario) -> None:
    vector = gymnasium.make_vec("aerofed/Threshold-v0", num_envs=3, vectorization_mode="vector_entry_point", scenario=scenario)
    assert vector.observation_space.shape == (3, vector.single_observation_space.shape[0])
    observations, infos = vector.reset(seed=7)
    assert list(infos["seed"]) == [7, 8, 9] and vector.observation_space.contains(observations)
    rewards = []
    for _ in range(4):
        observations, reward, terminated, truncated, _ = vector.step(np.full((3, 5), 0.2, np.float32))
        rewards.append(reward[1])
        assert vector.observation_space.contains(observations)
    assert truncated.all() and not terminated.any()
    assert rewards == played(gymnasium.make("aerofed/Threshold-v0", scenario=scenario), 8, 0.2)[1]
    _, reward, _, truncated, infos = vector.step(np.full((3, 5), 0.2, np.float32))
    assert (reward == 0).all() and not truncated.any() and infos["_seed"].all()


def test_pettingzoo_accepts_one_agent_per_uav(scenario: aerofed.Scenario) -> None:
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import parallel_api_test, parallel_seed_test

    parallel_api_test(aerofed.gym.parallel_env(scenario), num_cycles=10)
    parallel_seed_test(lambda: aerofed.gym.parallel_env(scenario), num_cycles=6)
    environment = aerofed.gym.parallel_env(scenario)
    observations, _ = environment.reset(seed=3)
    assert list(observations) == ["uav_0", "uav_1", "uav_2", "uav_3", "uav_4"]


def test_a_method_without_thresholds_is_refused(scenario: aerofed.Scenario) -> None:
    with pytest.raises(ValueError, match="do not wait for each other"):
        aerofed.gym.ThresholdEnv(scenario.with_(method="hfedat")).reset(seed=1)
