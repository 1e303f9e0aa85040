"""Flower: its client apps as our devices, and our planner as its strategy. Needs flwr.

``from_client_app(app, ...)`` makes a `Learner` of a Flower ``ClientApp`` as it is: its ``train`` function is called in this process for every device that a UAV
selects. ``PlannedFedAvg`` is a Flower ``Strategy``: who trains in a round is what aerofed's method selects, and the round's metrics say what it costs.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MessageType, Metadata, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

from ._aerofed import Round
from ._parts import Learner
from ._scenario import Scenario, as_scenario
from ._simulation import Simulation
from ._views import Job, Task, UpdateLost

__all__ = ["FlowerLearner", "PlannedFedAvg", "from_client_app"]

# Node ids of devices begin above the server's.
SERVER_NODE = 0
TTL_S = 3600.0

Evaluate = Callable[[ArrayRecord], tuple[float, float]]


class FlowerLearner(Learner):
    """Devices whose training is a Flower ``ClientApp``'s."""

    def __init__(
        self,
        app: ClientApp,
        initial_arrays: ArrayRecord | Sequence[NDArray[Any]],
        task: Task,
        evaluate: Evaluate | None,
        loss_key: str,
        accuracy_key: str,
        train_loss_key: str,
        config: Mapping[str, Any],
        run_config: Mapping[str, Any],
    ) -> None:
        self.app = app
        self.task = task
        self.evaluate = evaluate
        self.loss_key = loss_key
        self.accuracy_key = accuracy_key
        self.train_loss_key = train_loss_key
        self.config = dict(config)
        self.run_config = dict(run_config)
        arrays = initial_arrays if isinstance(initial_arrays, ArrayRecord) else ArrayRecord(list(initial_arrays))
        self._first = arrays
        self._shapes = [(name, array.numpy().shape, array.numpy().dtype) for name, array in arrays.items()]
        self._contexts: dict[int, Context] = {}

    def __deepcopy__(self, memo: dict[int, Any]) -> FlowerLearner:
        # A run has clients of its own; the app is code, and shared.
        return FlowerLearner(
            self.app,
            self._first,
            self.task,
            self.evaluate,
            self.loss_key,
            self.accuracy_key,
            self.train_loss_key,
            self.config,
            self.run_config,
        )

    def _flat(self, arrays: ArrayRecord) -> NDArray[np.float32]:
        parts = [np.ravel(arrays[name].numpy()).astype(np.float32) for name, _, _ in self._shapes]
        return np.concatenate(parts)

    def _record(self, model: NDArray[np.float32]) -> ArrayRecord:
        from flwr.app import Array

        record, at = {}, 0
        for name, shape, kind in self._shapes:
            count = int(np.prod(shape))
            record[name] = Array(model[at : at + count].reshape(shape).astype(kind))
            at += count
        return ArrayRecord(record)

    def _context(self, device: int) -> Context:
        if device not in self._contexts:
            place: dict[str, bool | float | int | str] = {"partition-id": device, "num-partitions": len(self.task.device_samples)}
            self._contexts[device] = Context(1, device + 1, place, RecordDict(), dict(self.run_config))
        return self._contexts[device]

    def _ask(self, kind: str, device: int, model: NDArray[np.float32], config: Mapping[str, Any]) -> RecordDict:
        content = RecordDict({"arrays": self._record(model), "config": ConfigRecord(dict(config))})
        # In process there is no link whose identity a message could take: it says itself from where to where it goes.
        metadata = Metadata(1, f"{device}", SERVER_NODE, device + 1, "", "", time.time(), TTL_S, kind)
        message: Message = cast(Any, Message)(content=content, metadata=metadata)
        reply = self.app(message, self._context(device))
        if reply.has_error():
            raise UpdateLost(reply.error.reason or "an error in reply")
        return reply.content

    def first_model(self) -> NDArray[np.float32]:
        """The initial arrays."""
        return self._flat(self._first)

    def train(self, job: Job) -> tuple[NDArray[np.float32], float]:
        """Calls the app's ``train``; ``config`` tells it ``local-iterations``, ``seed`` and ``proximal-mu``."""
        # Flower's numbers are of 64 bits with a sign.
        told = {"local-iterations": job.local_iterations, "seed": job.seed % 2**63, "proximal-mu": job.proximal}
        reply = self._ask(MessageType.TRAIN, job.device, job.model, {**self.config, **told})
        arrays = next(iter(reply.array_records.values()))
        metrics = next(iter(reply.metric_records.values()), MetricRecord())
        return self._flat(arrays), float(np.mean(metrics.get(self.train_loss_key, np.nan)))

    def test(self, model: NDArray[np.float32]) -> tuple[float, float]:
        """The server's own evaluation, or else the app's ``evaluate`` on all devices, weighted by their samples."""
        if self.evaluate is not None:
            return self.evaluate(self._record(model))
        sums = np.zeros(2)
        for device, samples in enumerate(self.task.device_samples):
            reply = self._ask(MessageType.EVALUATE, device, model, self.config)
            metrics = next(iter(reply.metric_records.values()))
            sums += samples * np.array([metrics[self.loss_key], metrics[self.accuracy_key]])
        loss, accuracy = sums / sum(self.task.device_samples)
        return float(loss), float(accuracy)


def from_client_app(
    app: ClientApp,
    *,
    scenario: Scenario | str | os.PathLike[str] | None = None,
    initial_arrays: ArrayRecord | Sequence[NDArray[Any]],
    samples: int | Sequence[int],
    sample_bits: float,
    evaluate: Evaluate | None = None,
    loss_key: str = "eval_loss",
    accuracy_key: str = "eval_acc",
    train_loss_key: str = "train_loss",
    config: Mapping[str, Any] | None = None,
    run_config: Mapping[str, Any] | None = None,
) -> FlowerLearner:
    """A learner of a Flower ``ClientApp`` with ``train`` (and ``evaluate``) functions, called in process.

    :param scenario: the one that is run: how many devices and UAVs there are.
    :param initial_arrays: the first global model.
    :param samples: training samples of each device, or of all of them alike.
    :param sample_bits: size of one sample: computing takes time and energy in proportion.
    :param evaluate: loss and accuracy of a model on the server; None: the app's ``evaluate`` on all devices, whose metrics are named by ``loss_key`` and
        ``accuracy_key``.
    :param config: what every message's ``ConfigRecord`` holds besides ``local-iterations``, ``seed`` and ``proximal-mu``.

    A client finds its number in ``context.node_config["partition-id"]``. What it keeps in ``context.state`` lasts for a run, and is not in checkpoints.
    """
    chosen = as_scenario(scenario, {})
    count = chosen.devices.count
    held = [samples] * count if isinstance(samples, int) else list(samples)
    arrays = initial_arrays if isinstance(initial_arrays, ArrayRecord) else ArrayRecord(list(initial_arrays))
    parameters = sum(int(np.prod(array.shape)) for array in arrays.values())
    task = Task(parameters, held, [0] * chosen.uavs.count, sample_bits)
    return FlowerLearner(app, arrays, task, evaluate, loss_key, accuracy_key, train_loss_key, config or {}, run_config or {})


class PlannedFedAvg(FedAvg):
    """Flower's ``FedAvg`` in which aerofed says who trains, and what a round costs.

    Every Flower round is a global round of a dry run of the scenario (nobody trains in it; Flower's clients do). The nodes of the grid, in the order of their ids, are
    the scenario's devices. Metrics of a round have ``aerofed-time-s``, ``aerofed-energy-j``, ``aerofed-clock-s``, ``aerofed-total-energy-j`` and ``aerofed-selected``.
    """

    def __init__(
        self,
        scenario: Scenario | str | os.PathLike[str] | None = None,
        *,
        method: str | None = None,
        seed: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.plan = Simulation(scenario, method=method, seed=seed, dry=True)
        self.rounds: list[Round] = []

    def configure_train(self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid) -> Iterable[Message]:
        """The clients that a UAV selects in this round; none when the run of the plan is over."""
        nodes = sorted(grid.get_node_ids())
        devices = self.plan.scenario.devices.count
        if len(nodes) < devices:
            raise ValueError(f"the grid has {len(nodes)} nodes, the scenario has {devices} devices")
        planned = self.plan.step()
        if planned is None:
            return []
        self.rounds.append(planned)
        chosen = sorted(device for cell in planned.selection for device in cell)
        config["server-round"] = server_round
        record = RecordDict({self.arrayrecord_key: arrays, self.configrecord_key: config})
        return self._construct_messages(record, [nodes[device] for device in chosen], MessageType.TRAIN)

    def aggregate_train(self, server_round: int, replies: Iterable[Message]) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """As ``FedAvg``, with what the round costs."""
        arrays, metrics = super().aggregate_train(server_round, replies)
        told = MetricRecord() if metrics is None else metrics
        if self.rounds:
            last = self.rounds[-1]
            told["aerofed-time-s"] = last.time_s
            told["aerofed-energy-j"] = last.energy_j
            told["aerofed-clock-s"] = last.clock_s
            told["aerofed-total-energy-j"] = last.cumulative_energy_j
            told["aerofed-selected"] = last.selected
        return arrays, told
