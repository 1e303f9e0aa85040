"""A Flower ClientApp, as it is, under UAVs: logistic regression on drawn points, two parts of a circle for each client.

python examples/python/flower_client.py [ROUNDS]

Needs flwr. The app below could be anybody's: it knows nothing of aerofed. The second half asks the other way round: Flower's FedAvg with aerofed's selection is
`aerofed.flower.PlannedFedAvg(scenario, method="cehfed")`, a Strategy for a ServerApp.
"""

from __future__ import annotations

import sys

import aerofed
import aerofed.flower
import numpy as np
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from numpy.typing import NDArray

SAMPLES = 40
CLASSES = 4

app = ClientApp()


def points(count: int, classes: NDArray[np.int64], seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points around as many places on a circle as there are classes."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(classes, count)
    angle = 2 * np.pi * labels / CLASSES
    places = np.stack([np.cos(angle), np.sin(angle), np.ones(count)], axis=1)
    return places + rng.normal(0, 0.3, (count, 3)) * [1, 1, 0], labels


def probabilities(inputs: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    scores = np.exp(inputs @ weights - (inputs @ weights).max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = scores / scores.sum(axis=1, keepdims=True)
    return shares


@app.train()
def train(message: Message, context: Context) -> Message:
    """SGD on the client's own points."""
    config = message.content.config_records["config"]
    client = int(context.node_config["partition-id"])
    inputs, labels = points(SAMPLES, np.array([client % CLASSES, (client + 1) % CLASSES]), client)
    weights = message.content.array_records["arrays"]["weights"].numpy()
    losses = []
    for _ in range(int(str(config["local-iterations"]))):
        shares = probabilities(inputs, weights)
        losses.append(-np.log(shares[np.arange(SAMPLES), labels]).mean())
        shares[np.arange(SAMPLES), labels] -= 1
        weights = weights - 0.5 * inputs.T @ shares / SAMPLES
    metrics = MetricRecord({"num-examples": SAMPLES, "train_loss": float(np.mean(losses))})
    content = RecordDict({"arrays": ArrayRecord({"weights": Array(weights)}), "metrics": metrics})
    return Message(content, reply_to=message)


def evaluate(arrays: ArrayRecord) -> tuple[float, float]:
    """Loss and accuracy on points that nobody holds."""
    inputs, labels = points(2000, np.arange(CLASSES), 10_000)
    shares = probabilities(inputs, arrays["weights"].numpy())
    loss = -np.log(shares[np.arange(len(labels)), labels]).mean()
    return float(loss), float((shares.argmax(axis=1) == labels).mean())


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    scenario = aerofed.Scenario.load("quickstart")
    first = ArrayRecord({"weights": Array(np.zeros((3, CLASSES)))})
    learner = aerofed.flower.from_client_app(
        app, scenario=scenario, initial_arrays=first, samples=SAMPLES, sample_bits=128.0, evaluate=evaluate
    )
    print(aerofed.run(scenario, method="hfl", rounds=rounds, learner=learner))


if __name__ == "__main__":
    main()
