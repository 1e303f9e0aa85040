"""Flower: its client apps as our devices, and our planner as its strategy. Needs flwr.

``from_client_app(app, ...)`` makes a `Learner` of a Flower ``ClientApp`` as it is: its ``train`` function, or the ``fit`` of the client that its ``client_fn`` makes,
is called in this process for every device that a UAV selects. ``PlannedFedAvg`` is a Flower ``Strategy``: who trains in a round is what aerofed's method selects, and the round's metrics say what it costs.
"""

from __future__ import annotations

import copy
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MessageType, Metadata, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg
from numpy.typing import NDArray

from ._aerofed import Round
from ._fields import unknown
from ._parts import Learner
from ._scenario import Scenario, as_scenario
from ._simulation import Simulation
from ._views import Job, Task, UpdateLost

__all__ = ["FlowerLearner", "PlannedFedAvg", "from_client_app"]

# Node ids of devices begin above the server's.
SERVER_NODE = 0
TTL_S = 3600.0

# The status of a client that did what it was told.
OK = 0

Evaluate = Callable[[ArrayRecord], tuple[float, float]]


class FlowerLearner(Learner):
    """Devices whose training is a Flower ``ClientApp``'s."""

    def __init__(
        self,
        app: ClientApp,
        initial_arrays: ArrayRecord,
        task: Task,
        evaluate: Evaluate | None,
        loss_key: str,
        accuracy_key: str | None,
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
        self._first = initial_arrays
        self._shapes = [(name, array.numpy().shape, array.numpy().dtype) for name, array in initial_arrays.items()]
        self._contexts: dict[int, Context] = {}
        # What Flower itself asks: such an app has no functions for kinds of messages, but a client that speaks an older language.
        self._has_client_fn = getattr(app, "_call", None) is not None

    def __deepcopy__(self, memo: dict[int, Any]) -> FlowerLearner:
        # A run has clients of its own; the app is code, and shared.
        own = copy.copy(self)
        own._contexts = {}
        return own

    def save(self) -> bytes:
        """What clients keep in ``context.state``."""
        from flwr.common.serde import recorddict_to_proto

        kept = {device: context.state for device, context in self._contexts.items() if context.state}
        return json.dumps({device: recorddict_to_proto(state).SerializeToString().hex() for device, state in kept.items()}).encode()

    def restore(self, saved: bytes) -> None:
        """Takes up what ``save`` gave."""
        from flwr.common.serde import recorddict_from_proto
        from flwr.proto.recorddict_pb2 import RecordDict as Written

        self._contexts = {}
        for device, state in json.loads(saved).items():
            self._context(int(device)).state = recorddict_from_proto(Written.FromString(bytes.fromhex(state)))

    def _flat(self, arrays: ArrayRecord) -> NDArray[np.float32]:
        names = [name for name, _, _ in self._shapes]
        # Clients of the older kind send arrays without names, in the order in which they got them.
        given = list(arrays.values()) if self._has_client_fn else [arrays[name] for name in names if name in arrays]
        if len(given) != len(names):
            raise ValueError(f"the app's reply has the arrays {list(arrays)}, allowed: those of `initial_arrays`, {names}")
        return np.concatenate([np.ravel(array.numpy()).astype(np.float32) for array in given])

    def _record(self, model: NDArray[np.float32]) -> ArrayRecord:
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
        arrays, settings = ("arrays", "config")
        if self._has_client_fn:
            instruction = "fitins" if kind == MessageType.TRAIN else "evaluateins"
            arrays, settings = (f"{instruction}.parameters", f"{instruction}.config")
        content = RecordDict({arrays: self._record(model), settings: ConfigRecord(dict(config))})
        # In process there is no link whose identity a message could take: it says itself from where to where it goes.
        metadata = Metadata(1, f"{device}", SERVER_NODE, device + 1, "", "", time.time(), TTL_S, kind)
        message: Message = cast(Any, Message)(content=content, metadata=metadata)
        reply = self.app(message, self._context(device))
        if reply.has_error():
            raise UpdateLost(reply.error.reason or "an error in reply")
        if self._has_client_fn:
            status = reply.content.config_records["fitres.status" if kind == MessageType.TRAIN else "evaluateres.status"]
            if status["code"] != OK:
                raise UpdateLost(str(status["message"]))
        return reply.content

    def first_model(self) -> NDArray[np.float32]:
        """The initial arrays."""
        return np.concatenate([np.ravel(array.numpy()).astype(np.float32) for array in self._first.values()])

    def train(self, job: Job) -> tuple[NDArray[np.float32], float]:
        """Calls the app's ``train``, or its client's ``fit``; ``config`` tells it ``local-iterations``, ``seed`` and ``proximal-mu``."""
        # Flower's numbers are of 64 bits with a sign.
        told = {"local-iterations": job.local_iterations, "seed": job.seed % 2**63, "proximal-mu": job.proximal}
        reply = self._ask(MessageType.TRAIN, job.device, job.model, {**self.config, **told})
        arrays = next(iter(reply.array_records.values()), ArrayRecord())
        metrics = self._metrics(reply, "fitres.metrics")
        return self._flat(arrays), float(np.mean(metrics.get(self.train_loss_key, np.nan)))

    def test(self, model: NDArray[np.float32]) -> tuple[float, float]:
        """The server's own evaluation, or else the app's ``evaluate`` on all devices, weighted by their samples."""
        if self.evaluate is not None:
            return self.evaluate(self._record(model))
        sums = np.zeros(2)
        for device, samples in enumerate(self.task.device_samples):
            sums += samples * np.array(self._evaluated(device, model))
        loss, accuracy = sums / sum(self.task.device_samples)
        return float(loss), float(accuracy)

    def _evaluated(self, device: int, model: NDArray[np.float32]) -> tuple[float, float]:
        try:
            reply = self._ask(MessageType.EVALUATE, device, model, self.config)
        except UpdateLost as error:
            raise RuntimeError(f"client {device} does not evaluate: {error}") from None
        metrics = self._metrics(reply, "evaluateres.metrics")
        if self._has_client_fn:
            loss = reply.metric_records["evaluateres.loss"]["loss"]
            return float(np.mean(loss)), _metric(metrics, "accuracy_key", self.accuracy_key or "accuracy")
        return _metric(metrics, "loss_key", self.loss_key), _metric(metrics, "accuracy_key", self.accuracy_key or "eval_acc")

    def _metrics(self, content: RecordDict, of_client: str) -> Mapping[str, Any]:
        if self._has_client_fn:
            return content.config_records[of_client]
        return next(iter(content.metric_records.values()), MetricRecord())


def _metric(metrics: Mapping[str, Any], option: str, name: str) -> float:
    if name not in metrics:
        raise ValueError(f"`{option}` is {name!r}, which the app does not tell: {unknown(name, 'its metrics', list(metrics))}")
    return float(np.mean(metrics[name]))


def from_client_app(
    app: ClientApp,
    *,
    scenario: Scenario | str | os.PathLike[str] | None = None,
    initial_arrays: ArrayRecord | Sequence[NDArray[Any]],
    samples: int | Sequence[int],
    sample_bits: float,
    evaluate: Evaluate | None = None,
    loss_key: str = "eval_loss",
    accuracy_key: str | None = None,
    train_loss_key: str = "train_loss",
    config: Mapping[str, Any] | None = None,
    run_config: Mapping[str, Any] | None = None,
) -> FlowerLearner:
    """A learner of a Flower ``ClientApp``, called in process: one with ``train`` (and ``evaluate``) functions, or ``ClientApp(client_fn=...)``.

    :param scenario: the one that is run: how many devices and UAVs there are.
    :param initial_arrays: the first global model.
    :param samples: training samples of each device, or of all of them alike.
    :param sample_bits: size of one sample: computing takes time and energy in proportion.
    :param evaluate: loss and accuracy of a model on the server; None: the app's ``evaluate`` on all devices, whose metrics are named by ``loss_key`` and
        ``accuracy_key`` ("eval_acc"; "accuracy" where there is a ``client_fn``, whose clients return their loss).
    :param train_loss_key: the metric of ``train`` or ``fit`` that is the mean loss of its steps; NaN where it is missing.
    :param config: what every message's ``ConfigRecord`` (or the ``config`` of ``fit``) holds besides ``local-iterations``, ``seed`` and ``proximal-mu``.

    A client finds its number in ``context.node_config["partition-id"]``. What it keeps in ``context.state`` lasts for a run, and is in its checkpoints.
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
