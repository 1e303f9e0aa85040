"""Flower: an app of its kind trains under UAVs, and its strategy asks our planner."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import aerofed
import numpy as np
import pytest

pytest.importorskip("flwr", reason="flwr is not installed")
import aerofed.flower  # noqa: E402
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict  # noqa: E402
from flwr.client import NumPyClient  # noqa: E402
from flwr.clientapp import ClientApp  # noqa: E402
from flwr.serverapp import Grid  # noqa: E402

TRUTH = np.array([[3.0, -1.0], [0.5, 2.0]])


def make_app() -> ClientApp:
    """Devices that move towards what they know."""
    app = ClientApp()

    @app.train()
    def train(message: Message, context: Context) -> Message:
        arrays = message.content.array_records["arrays"]
        config = message.content.config_records["config"]
        own = np.random.default_rng(int(context.node_config["partition-id"])).normal(0, 0.1, TRUTH.shape)
        steps = int(config.get("local-iterations", 5))
        # What a client remembers counts: it goes one step less for each time that it trained.
        calls = int(context.state.metric_records["calls"]["n"]) if "calls" in context.state else 0
        context.state["calls"] = MetricRecord({"n": calls + 1})
        model = arrays["w"].numpy()
        model = TRUTH + own + 0.9 ** max(steps - calls % 3, 1) * (model - TRUTH - own)
        metrics = MetricRecord({"num-examples": 10, "train_loss": float(np.mean((model - TRUTH) ** 2))})
        return Message(RecordDict({"arrays": ArrayRecord({"w": Array(model)}), "metrics": metrics}), reply_to=message)

    @app.evaluate()
    def evaluate(message: Message, context: Context) -> Message:
        model = message.content.array_records["arrays"]["w"].numpy()
        loss = float(np.mean((model - TRUTH) ** 2))
        metrics = MetricRecord({"num-examples": 10, "eval_loss": loss, "eval_acc": 1 / (1 + loss)})
        return Message(RecordDict({"metrics": metrics}), reply_to=message)

    return app


def first() -> ArrayRecord:
    return ArrayRecord({"w": Array(np.zeros((2, 2)))})


def test_a_client_app_trains_under_uavs(small: aerofed.Scenario) -> None:
    for evaluate in (None, lambda arrays: (float(np.mean((arrays["w"].numpy() - TRUTH) ** 2)), 0.5)):
        learner = aerofed.flower.from_client_app(
            make_app(), scenario=small, initial_arrays=first(), samples=10, sample_bits=64.0, evaluate=evaluate
        )
        run = aerofed.run(small, method="hfl", learner=learner, progress=False)
        assert run.rounds["test_loss"][-1] < 0.01 and run.rounds["train_loss"][0] < 5
        assert run.summary.parameters == 4 and run.summary.total_energy_j > 0
        again = aerofed.run(small, method="hfl", learner=learner, progress=False)
        assert list(again.rounds["test_loss"]) == list(run.rounds["test_loss"])


class Older(NumPyClient):
    """A client as people wrote them before apps had functions for messages."""

    def __init__(self, client: int) -> None:
        self.own = np.random.default_rng(client).normal(0, 0.1, TRUTH.shape)

    def fit(self, parameters: list[np.ndarray], config: dict[str, Any]) -> tuple[list[np.ndarray], int, dict[str, Any]]:
        known = TRUTH + self.own
        model = known + 0.9 ** int(config["local-iterations"]) * (parameters[0] - known)
        return [model], 10, {"train_loss": float(np.mean((model - TRUTH) ** 2))}

    def evaluate(self, parameters: list[np.ndarray], config: dict[str, Any]) -> tuple[float, int, dict[str, Any]]:
        loss = float(np.mean((parameters[0] - TRUTH) ** 2))
        return loss, 10, {"accuracy": 1 / (1 + loss)}


def test_an_app_with_a_client_fn_trains_under_uavs(small: aerofed.Scenario) -> None:
    def client_fn(context: Context) -> Any:
        return Older(int(context.node_config["partition-id"])).to_client()

    def learner(app: ClientApp, **options: Any) -> aerofed.flower.FlowerLearner:
        return aerofed.flower.from_client_app(app, scenario=small, initial_arrays=[np.zeros((2, 2))], samples=10, sample_bits=64.0, **options)

    run = aerofed.run(small, method="hfl", learner=learner(ClientApp(client_fn=client_fn)), progress=False)
    assert run.rounds["test_loss"][-1] < 0.01 and run.rounds["train_loss"][0] < 5
    assert run.summary.final_accuracy == pytest.approx(1 / (1 + run.summary.final_loss))
    with pytest.raises(ValueError, match="`accuracy_key` is 'acuracy', which the app does not tell.*did you mean `accuracy`"):
        aerofed.run(small, learner=learner(ClientApp(client_fn=client_fn), accuracy_key="acuracy"), progress=False)

    class Deaf(Older):
        def fit(self, parameters: Any, config: Any) -> Any:
            return [parameters[0], parameters[0]], 10, {}

    deaf = ClientApp(client_fn=lambda context: Deaf(0).to_client())
    with pytest.raises(ValueError, match="the app's reply has the arrays"):
        aerofed.run(small, method="hfl", learner=learner(deaf), progress=False)


def test_what_clients_remember_is_in_checkpoints(small: aerofed.Scenario, tmp_path: Path) -> None:
    learner = aerofed.flower.from_client_app(make_app(), scenario=small, initial_arrays=first(), samples=10, sample_bits=64.0, evaluate=lambda arrays: (float(arrays["w"].numpy().sum()), 0.5))
    aerofed.run(small, method="hfl", learner=learner, out=tmp_path / "whole", progress=False)

    def interrupt(round: aerofed.Round) -> None:
        if round.round == 3:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(aerofed.Interrupted):
        aerofed.run(small, method="hfl", learner=learner, out=tmp_path / "parts", progress=interrupt)
    aerofed.resume(tmp_path / "parts", learner=learner, progress=False)
    assert (tmp_path / "parts/rounds.csv").read_bytes() == (tmp_path / "whole/rounds.csv").read_bytes()


class LocalGrid(Grid):
    """Nodes in this process."""

    def __init__(self, app: ClientApp, nodes: int) -> None:
        self.app = app
        self.nodes = [1000 + 7 * node for node in range(nodes)]
        self.asked: list[list[int]] = []

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> list[Message]:
        messages = list(messages)
        self.asked.append([self.nodes.index(message.metadata.dst_node_id) for message in messages])
        replies = []
        for message in messages:
            node = self.nodes.index(message.metadata.dst_node_id)
            context = Context(1, message.metadata.dst_node_id, {"partition-id": node}, RecordDict(), {})
            replies.append(self.app(message, context))
        return replies

    def get_node_ids(self) -> list[int]:
        return list(reversed(self.nodes))

    def set_run(self, run: Any) -> None: ...
    @property
    def run(self) -> Any: ...
    def create_message(self, *args: Any, **named: Any) -> Any: ...
    def push_messages(self, messages: Any) -> Any: ...
    def pull_messages(self, message_ids: Any) -> Any: ...


def test_our_planner_is_a_strategy(small: aerofed.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    # What a ServerApp's process has.
    identity = pytest.importorskip("flwr.supercore.task_identity").TaskIdentity
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(identity, name, 1)
    strategy = aerofed.flower.PlannedFedAvg(small, method="cehfed", fraction_evaluate=0.0)
    grid = LocalGrid(make_app(), 40)
    result = strategy.start(grid, first(), num_rounds=3)
    plan = aerofed.Simulation(small, method="cehfed", dry=True)
    for number in (1, 2, 3):
        planned = plan.step()
        assert planned is not None
        assert grid.asked[2 * (number - 1)] == sorted(device for cell in planned.selection for device in cell)
        metrics = result.train_metrics_clientapp[number]
        assert metrics["aerofed-energy-j"] == planned.energy_j and metrics["aerofed-clock-s"] == planned.clock_s
    # Three rounds of five steps, each a tenth of the way, for clients that have forgotten everything.
    assert np.allclose(result.arrays["w"].numpy(), (1 - 0.9**15) * TRUTH, atol=0.1)
    with pytest.raises(ValueError, match="the grid has 3 nodes, the scenario has 40 devices"):
        aerofed.flower.PlannedFedAvg(small).start(LocalGrid(make_app(), 3), first(), num_rounds=1)
