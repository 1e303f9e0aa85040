"""Parts in Python: they decide, are copied, saved, taken up, and their mistakes are told."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import aerofed
import numpy as np
import pytest
from aerofed import Scenario
from test_experiments import Nearest


class Share(aerofed.Association):
    """Some of the covered devices at random, more from round to round."""

    def __init__(self, few: int) -> None:
        self.few = few
        self.rounds: list[int] = []

    def select(self, scene: aerofed.Scene) -> list[list[int]]:
        self.rounds.append(scene.round)
        taken: set[int] = set()
        cells = []
        for covered in scene.covered:
            free = [int(device) for device in covered if int(device) not in taken]
            chosen = sorted(scene.rng.permutation(free)[: self.few + len(self.rounds)].tolist())
            taken.update(chosen)
            cells.append(chosen)
        return cells


def test_a_selection_rule_decides_and_is_reported_under_its_name(small: Scenario) -> None:
    rule = Share(1)
    run = aerofed.run(small, method=rule, progress=False)
    assert run.summary.method == "Share" and run.scenario.method == "Share"
    first = run.round(1)
    assert all(len(cell) <= 2 for cell in first.selection) and first.selected > 0
    again = aerofed.run(small, method=rule, threads=1, progress=False)
    assert list(run.rounds["test_accuracy"]) == list(again.rounds["test_accuracy"])
    assert rule.rounds == [], "every run has a copy"
    assert "Share" in run.report()


def test_a_rule_sees_the_world_as_it_is(small: Scenario) -> None:
    seen: list[aerofed.Scene] = []
    told: list[aerofed.Outcome] = []

    class Look(Nearest):
        needs = ("fitness", "edge_models", "moves")

        def select(self, scene: aerofed.Scene) -> list[np.ndarray]:
            seen.append(scene)
            return super().select(scene)

        def observe(self, outcome: aerofed.Outcome) -> None:
            told.append(outcome)

    run = aerofed.run(small, method=Look(), rounds=3, progress=False)
    scene = seen[0]
    assert scene.round == 1 and scene.devices.position_m.shape == (40, 2) and scene.uavs.position_m.shape == (5, 2)
    places = run.devices["x_m"][:40]
    assert np.array_equal(np.round(scene.devices.position_m[:, 0]), places)
    for uav, covered in enumerate(scene.covered):
        away = np.linalg.norm(scene.devices.position_m - scene.uavs.position_m[uav], axis=1)
        assert set(covered) <= set(np.flatnonzero(away <= scene.uavs.coverage_radius_m[uav]))
        assert len(scene.fitness[uav]) == len(covered) == len(scene.answers[uav].differences)
        assert scene.answers[uav].classes.shape == (len(covered), 10)
    assert seen[1].seed != scene.seed and (scene.devices.samples > 0).all()
    assert [outcome.round for outcome in told] == [1, 2, 3]
    assert told[0].cells[0].loss is not None and told[0].cells[0].moved is not None
    assert set(told[0].devices) == {device for cell in run.round(1).selection for device in cell}
    assert run.round(1).energy["scoring_j"] > 0, "what it needs is paid for"


def test_arrays_of_a_scene_are_read_only_and_shared_while_they_stay_the_same(small: Scenario) -> None:
    seen: list[aerofed.Scene] = []

    class Look(Nearest):
        def select(self, scene: aerofed.Scene) -> list[np.ndarray]:
            seen.append(scene)
            return super().select(scene)

    aerofed.run(small.with_(faults=[], **{"mobility.kind": "coverage_hop", "mobility.hop_probability": 1.0}), method=Look(), rounds=3, progress=False)
    first, second = seen[:2]
    for name in ("tx_power_w", "cpu_hz", "iteration_time_s", "iteration_energy_j", "samples"):
        array = getattr(second.devices, name)
        assert array is getattr(first.devices, name), f"{name} is copied"
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    for name in ("position_m", "altitude_m", "coverage_radius_m", "bandwidth_up_hz", "bandwidth_down_hz", "active"):
        assert getattr(second.uavs, name) is getattr(first.uavs, name), f"{name} is copied"
    # What changes is another array, and the one that was kept stays as it was.
    assert first.devices.position_m is not second.devices.position_m and not np.array_equal(first.devices.position_m, second.devices.position_m)
    assert (second.uavs.battery_j < first.uavs.battery_j).all()
    for array in (first.devices.position_m, first.uavs.battery_j, first.covered[0], first.devices.nearest):
        assert not array.flags.writeable
    still: list[aerofed.Scene] = seen
    still.clear()
    aerofed.run(small.with_(faults=[], **{"mobility.kind": "static"}), method=Look(), rounds=2, progress=False)
    assert still[0].devices.position_m is still[1].devices.position_m


def test_a_selection_may_be_any_kind_of_list(small: Scenario) -> None:
    """Also arrays that are views of others, backwards or with gaps, and of other kinds of numbers."""

    def selection(change: Callable[[np.ndarray], object]) -> list[list[int]]:
        class Every(Nearest):
            def select(self, scene: aerofed.Scene) -> list[object]:  # type: ignore[override]
                return [change(cell) for cell in super().select(scene)]

        return aerofed.run(small, method=Every(), rounds=1, progress=False).round(1).selection

    every_other = selection(lambda cell: cell[::2].tolist())
    assert every_other == selection(lambda cell: cell[::2]) == selection(lambda cell: cell[::2].astype(np.uint16))
    assert every_other == selection(lambda cell: tuple(cell[::2]))
    assert sorted(map(sorted, selection(lambda cell: cell[::-1]))) == sorted(map(sorted, selection(lambda cell: cell)))


def test_what_a_part_carries_is_saved_and_taken_up(small: Scenario, tmp_path: Path) -> None:
    long = small.with_(**{"stop.max_rounds": 12})
    whole = aerofed.run(long, method=Share(1), out=tmp_path / "whole", progress=False)

    def interrupt(round: aerofed.Round) -> None:
        if round.round == 5:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(aerofed.Interrupted):
        aerofed.run(long, method=Share(1), out=tmp_path / "parts", progress=interrupt)
    with pytest.raises(ValueError, match='`method` is "Share"'):
        aerofed.resume(tmp_path / "parts", progress=False)
    rest = aerofed.resume(tmp_path / "parts", method=Share(99), progress=False)
    assert rest.summary.rounds == 12
    assert (tmp_path / "parts/rounds.csv").read_bytes() == (tmp_path / "whole/rounds.csv").read_bytes()
    assert whole.summary.rounds == 12


def test_what_cannot_be_saved_is_told(small: Scenario, tmp_path: Path) -> None:
    class Odd(Nearest):
        def __init__(self) -> None:
            self.array = np.zeros(3)

    assert aerofed.run(small, method=Odd(), rounds=1, progress=False).summary.rounds == 1
    with pytest.raises(TypeError, match="define `save` and `restore`"):
        aerofed.run(small, method=Odd(), out=tmp_path / "odd", checkpoint_every=1, progress=False)


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        (lambda scene: 1 / 0, ZeroDivisionError, "division by zero"),
        (lambda scene: 7, TypeError, "`select` returned a int, allowed: for each UAV a list"),
        (lambda scene: [1, 2, 3, 4, 5], TypeError, "for each UAV a list"),
        (lambda scene: [[0]], RuntimeError, "1 cells for 5 UAVs"),
        (lambda scene: [[], [], [], [], [-1]], ValueError, "device -1"),
        (lambda scene: [[39, 39], [], [], [], []], RuntimeError, "impossible decision"),
        (lambda scene: [["a"], [], [], [], []], TypeError, "str"),
    ],
)
def test_impossible_selections_are_told(small: Scenario, answer: object, kind: type[Exception], words: str) -> None:
    class Wrong(aerofed.Association):
        select = staticmethod(answer)  # type: ignore[assignment]

    with pytest.raises(kind, match=words):
        aerofed.run(small, method=Wrong(), progress=False)


def test_a_mistake_ends_a_comparison_and_leaves_no_run(small: Scenario, tmp_path: Path) -> None:
    class Late(Nearest):
        name = "late"

        def select(self, scene: aerofed.Scene) -> list[np.ndarray]:
            if scene.round == 3:
                raise LookupError("round three")
            return super().select(scene)

    with pytest.raises(LookupError, match="round three"):
        aerofed.compare(small, methods=Late(), seeds=2, targets=[0.99], out=tmp_path / "c", progress=False)
    assert not (tmp_path / "c").exists()


def test_needs_are_checked(small: Scenario) -> None:
    class Needy(Nearest):
        needs = ("tea",)

    with pytest.raises(ValueError, match="allowed: answers, fitness, edge_models, moves"):
        aerofed.run(small, method=Needy(), progress=False)


class Equal(aerofed.Allocation):
    def allocate(self, cell: aerofed.Cell) -> aerofed.Plan:
        count = len(cell)
        return aerofed.Plan(5, np.full(count, cell.bandwidth_up_hz / count), np.full(count, cell.bandwidth_down_hz / count))


def test_an_allocation_and_an_aggregation_are_those_of_the_program(small: Scenario) -> None:
    class Mean(aerofed.Aggregation):
        def merge(self, models: np.ndarray, weights: np.ndarray) -> np.ndarray:
            # As FedAvg: summed in f64, in order.
            total = np.zeros(models.shape[1])
            for model, share in zip(models, weights / weights.sum(), strict=True):
                total += share * model.astype(np.float64)
            return total

    method = aerofed.Method("mine", base="hfl", allocation=Equal(), aggregation=Mean())
    mine = aerofed.run(small, method=method, progress=False)
    theirs = aerofed.run(small, method="hfl", progress=False)
    assert list(mine.rounds["clock_s"]) == list(theirs.rounds["clock_s"])
    assert mine.rounds["test_accuracy"][-1] == pytest.approx(theirs.rounds["test_accuracy"][-1], abs=0.01)

    class Short(aerofed.Aggregation):
        def merge(self, models: np.ndarray, weights: np.ndarray) -> np.ndarray:
            return models[0][:3]

    with pytest.raises(ValueError, match="3 numbers, allowed: 7850"):
        aerofed.run(small, method=Short(), progress=False)

    class Greedy(Equal):
        def allocate(self, cell: aerofed.Cell) -> aerofed.Plan:
            plan = super().allocate(cell)
            return plan._replace(bandwidth_up_hz=2 * np.asarray(plan.bandwidth_up_hz))

    with pytest.raises(RuntimeError, match="uplink shares sum to"):
        aerofed.run(small, method=Greedy(), progress=False)

    class Odd(Equal):
        def allocate(self, cell: aerofed.Cell) -> aerofed.Plan:
            return 5  # type: ignore[return-value]

    with pytest.raises(TypeError, match="`allocate` returned a int, allowed: an aerofed.Plan"):
        aerofed.run(small, method=Odd(), progress=False)


def test_a_redeployment_moves_uavs(small: Scenario) -> None:
    scenario = small.with_(faults=[{"kind": "loss", "uav": 0, "round": 2}], **{"redeploy.when": "on_change", "stop.max_rounds": 4})

    class Middle(aerofed.Redeployment):
        def redeploy(self, fleet: aerofed.Fleet) -> dict[int, np.ndarray]:
            middle = fleet.devices_m.mean(axis=0)
            nearest = int(np.argmin(np.linalg.norm(fleet.position_m - middle, axis=1)))
            step = middle - fleet.position_m[nearest]
            way = min(np.linalg.norm(step), 0.5 * fleet.reach_m[nearest])
            return {fleet.ids[nearest]: fleet.position_m[nearest] + step / np.linalg.norm(step) * way}

    run = aerofed.run(scenario, method=Middle(), progress=False)
    assert list(run.events["event"]).count("uav_moved") == 1

    class Away(aerofed.Redeployment):
        def redeploy(self, fleet: aerofed.Fleet) -> dict[int, list[float]]:
            return {fleet.ids[0]: [-5.0, 0.0]}

    with pytest.raises(ValueError, match="allowed: inside the area"):
        aerofed.run(scenario, method=Away(), progress=False)

    class Odd(aerofed.Redeployment):
        def redeploy(self, fleet: aerofed.Fleet) -> dict[int, list[float]]:
            return [fleet.ids]  # type: ignore[return-value]

    with pytest.raises(TypeError, match="`redeploy` returned a list, allowed: a dictionary"):
        aerofed.run(scenario, method=Odd(), progress=False)


def test_a_selection_rule_takes_less_than_a_millisecond_a_round() -> None:
    scenario = Scenario.load("quickstart", faults=[], **{"stop.max_rounds": 200, "stop.target_accuracy": 1.0})
    assert scenario.devices.count == 150
    spent: list[float] = []

    class Timed(Nearest):
        def select(self, scene: aerofed.Scene) -> list[np.ndarray]:
            began = time.perf_counter()
            chosen = super().select(scene)
            spent.append(time.perf_counter() - began)
            return chosen

    def cpu_s(method: object) -> float:
        began = time.process_time()
        aerofed.run(scenario, method=method, dry=True, threads=1, progress=False)  # type: ignore[arg-type]
        return time.process_time() - began

    own = aerofed.Method(base="hfl", association=Nearest())
    extra = min(cpu_s(own) for _ in range(3)) - min(cpu_s("hfl") for _ in range(3))
    assert extra / 200 < 1e-3, f"{1e6 * extra / 200} us a round"
    aerofed.run(scenario, method=aerofed.Method(base="hfl", association=Timed()), dry=True, progress=False)
    assert np.median(spent) < 1e-3
