"""Parts in Python: they decide, are copied, saved, taken up, and their mistakes are told."""

from __future__ import annotations

import os
import signal
import time
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
        (lambda scene: 7, TypeError, "for each UAV a list"),
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


class Field(aerofed.Learner):
    """A field of five numbers, measured by devices with an error of their own; some answers never come."""

    truth = np.array([3.0, -1.0, 0.5, 2.0, -4.0], np.float32)

    def __init__(self, devices: int, uavs: int) -> None:
        self.task = aerofed.Task(5, [10] * devices, [0] * uavs, 160.0)

    def save(self) -> bytes:
        return b""

    def first_model(self) -> np.ndarray:
        return np.zeros(5)

    def train(self, job: aerofed.Job) -> tuple[np.ndarray, float]:
        rng = np.random.default_rng(job.seed)
        if rng.random() < 0.1:
            raise aerofed.UpdateLost("no answer within 10 s")
        belief = self.truth + rng.uniform(-0.25, 0.25, 5)
        model = belief + 0.9**job.local_iterations * (job.model - belief)
        return model, float(np.mean((model - self.truth) ** 2))

    def test(self, model: np.ndarray) -> tuple[float, float]:
        loss = float(np.mean((model - self.truth) ** 2))
        return loss, 1 / (1 + loss)


@pytest.mark.parametrize("method", ["hfl", "cehfed", "cfed", "hfedat"])
def test_a_learner_takes_the_place_of_network_and_data(small: Scenario, method: str) -> None:
    learner = Field(40, 5)
    run = aerofed.run(small, method=method, learner=learner, progress=False)
    losses = run.rounds["test_loss"]
    assert losses[-1] < 0.01 * np.mean(Field.truth**2)
    again = aerofed.run(small, method=method, learner=learner, threads=1, progress=False)
    assert list(again.rounds["test_loss"]) == list(losses)
    assert list(run.model) == ["model"] and run.model["model"].shape == (5,)
    lost = [reason for reason in run.events["reason"] if reason]
    assert lost and set(lost) == {"no answer within 10 s"}
    assert run.summary.total_energy_j > 0 and run.summary.parameters == 5


def test_a_learner_that_does_not_fit_is_told(small: Scenario, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="samples of 3 devices"):
        aerofed.run(small, learner=Field(3, 5), progress=False)

    class Broken(Field):
        def test(self, model: np.ndarray) -> tuple[float, float]:
            raise OSError("no such card")

    with pytest.raises(OSError, match="no such card"):
        aerofed.run(small, learner=Broken(40, 5), progress=False)
    found = aerofed.compare(small, methods=["hfl", "rhfed"], seeds=1, targets=[0.5], learner=Field(40, 5), out=tmp_path / "c", progress=False)
    assert found.statistics.methods[0].targets[0].reached == 1


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
