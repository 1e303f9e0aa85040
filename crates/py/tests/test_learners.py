"""Learners in Python: they take the place of network and data, are saved, taken up, and their mistakes are told."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import aerofed
import numpy as np
import pytest
from aerofed import Scenario


class Field(aerofed.Learner):
    """A field of five numbers, measured by devices with an error of their own; some answers never come."""

    truth = np.array([3.0, -1.0, 0.5, 2.0, -4.0], np.float32)

    def __init__(self, devices: int, uavs: int) -> None:
        self.task = aerofed.Task(5, [10] * devices, [0] * uavs, 160.0)

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


@pytest.mark.parametrize(
    ("function", "answer", "kind", "words"),
    [
        ("train", lambda *_: np.zeros(5), TypeError, "`train` returned a ndarray, allowed: the trained model and the mean loss"),
        ("train", lambda *_: (np.zeros(4), 0.5), ValueError, "`train` returned 4 numbers, allowed: 5"),
        ("train", lambda *_: ("model", 0.5), TypeError, "`train` returned a str, allowed: an array of numbers"),
        ("test", lambda *_: 0.5, TypeError, "returned a float, allowed: loss and accuracy"),
        ("first_model", lambda *_: np.zeros((2, 2)), ValueError, "`first_model` returned 4 numbers, allowed: 5"),
    ],
)
def test_impossible_answers_are_told(small: Scenario, function: str, answer: object, kind: type[Exception], words: str) -> None:
    odd = type("Odd", (Field,), {function: staticmethod(answer)})
    with pytest.raises(kind, match=words):
        aerofed.run(small, method="hfl", learner=odd(40, 5), progress=False)


class Momenta(Field):
    """Every device keeps a momentum, so that what it answers depends on all rounds before."""

    def __init__(self, devices: int, uavs: int) -> None:
        super().__init__(devices, uavs)
        self.momenta = np.zeros((devices, 5))

    def train(self, job: aerofed.Job) -> tuple[np.ndarray, float]:
        model, loss = super().train(job)
        self.momenta[job.device] = 0.5 * self.momenta[job.device] + (model - job.model)
        return job.model + self.momenta[job.device], loss

    def save(self) -> bytes:
        return self.momenta.tobytes()

    def restore(self, saved: bytes) -> None:
        self.momenta = np.frombuffer(saved).reshape(self.momenta.shape).copy()


class Steady(aerofed.Aggregation):
    """Goes only half the way from what it merged last."""

    def __init__(self) -> None:
        self.last: list[float] | None = None

    def merge(self, models: np.ndarray, weights: np.ndarray) -> np.ndarray:
        merged = np.average(models, axis=0, weights=weights)
        if self.last is not None:
            merged = (merged + np.array(self.last)) / 2
        self.last = merged.astype(np.float64).tolist()
        return merged


def stopped_after(number: int) -> object:
    def interrupt(round: aerofed.Round) -> None:
        if round.round == number:
            os.kill(os.getpid(), signal.SIGINT)

    return interrupt


def test_what_a_learner_and_an_aggregation_carry_is_saved_and_taken_up(small: Scenario, tmp_path: Path) -> None:
    method = aerofed.Method("steady", base="hfl", aggregation=Steady())
    how = {"method": method, "learner": Momenta(40, 5)}
    aerofed.run(small, out=tmp_path / "whole", progress=False, **how)
    with pytest.raises(aerofed.Interrupted):
        aerofed.run(small, out=tmp_path / "parts", progress=stopped_after(3), **how)
    assert aerofed.resume(tmp_path / "parts", progress=False, **how).summary.rounds == 5
    for name in ("rounds.csv", "model.safetensors", "events.jsonl"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_state_that_does_not_fit_is_told(small: Scenario, tmp_path: Path) -> None:
    with pytest.raises(aerofed.Interrupted):
        aerofed.run(small, method="hfl", learner=Momenta(40, 5), out=tmp_path / "run", progress=stopped_after(3))
    with pytest.raises(ValueError, match="none of its 1 checkpoints") as refused:
        aerofed.resume(tmp_path / "run", learner=Field(40, 5), progress=False)
    assert "1600 bytes for Field, which has no `restore`" in refused.value.__notes__[0]
    # Nothing was touched.
    assert aerofed.resume(tmp_path / "run", learner=Momenta(40, 5), progress=False).summary.rounds == 5


def test_ctrl_c_in_the_middle_of_a_round_goes_back_to_the_last_checkpoint(small: Scenario, tmp_path: Path) -> None:
    """Half a round is nothing to go on from: what was written of it would lead to other bytes."""

    class Interrupting(Momenta):
        armed = True

        def train(self, job: aerofed.Job) -> tuple[np.ndarray, float]:
            self.calls = getattr(self, "calls", 0) + 1
            if self.armed and self.calls == 700:
                os.kill(os.getpid(), signal.SIGINT)
            return super().train(job)

    class Calm(Interrupting):
        armed = False

    aerofed.run(small, method="hfl", learner=Calm(40, 5), out=tmp_path / "whole", progress=False)
    simulation = aerofed.Simulation(small, method="hfl", learner=Interrupting(40, 5))
    with pytest.raises(KeyboardInterrupt):
        list(simulation)
    done = simulation.rounds_done
    assert 1 < done < 5 and simulation.finish().summary.rounds == done
    with pytest.raises(aerofed.Interrupted) as stopped:
        aerofed.run(small, method="hfl", learner=Interrupting(40, 5), out=tmp_path / "parts", checkpoint_every=1, progress=False)
    assert stopped.value.run.summary.rounds == done
    assert aerofed.resume(tmp_path / "parts", learner=Calm(40, 5), progress=False).summary.rounds == 5
    assert (tmp_path / "parts/rounds.csv").read_bytes() == (tmp_path / "whole/rounds.csv").read_bytes()


def test_a_run_whose_round_failed_does_not_go_on(small: Scenario) -> None:
    class Once(Field):
        def train(self, job: aerofed.Job) -> tuple[np.ndarray, float]:
            if job.device % 2:
                raise LookupError("odd")
            return super().train(job)

    simulation = aerofed.Simulation(small, method="hfl", learner=Once(40, 5))
    with pytest.raises(LookupError, match="odd"):
        simulation.step()
    with pytest.raises(RuntimeError, match="cannot go on"):
        simulation.step()
