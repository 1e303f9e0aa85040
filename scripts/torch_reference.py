"""Writes crates/nn/tests/reference/*.json: what PyTorch computes, for the tests of crate aerofed-nn.

Needs PyTorch in a virtual environment outside the repository:
    python3 -m venv ../venv && ../venv/bin/pip install torch numpy
    ../venv/bin/python scripts/torch_reference.py
Inputs, labels and start weights come from a linear congruential generator that the Rust tests repeat, so the
files hold only results: every `stride`-th weight after a step, norms, and loss curves.
"""

import json
import math
import pathlib

import numpy as np
import torch
from torch import nn

FOLDER = pathlib.Path(__file__).parent.parent / "crates/nn/tests/reference"
SAMPLES, BATCH, STEPS = 320, 32, 200


def lcg(seed, count):
    values, state = np.empty(count, np.float32), seed
    for index in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        values[index] = np.float32(state >> 8) / np.float32(1 << 24)
    return values


def conv(inputs, filters, kernel, padding=0):
    return nn.Conv2d(inputs, filters, kernel, padding=padding)


def model(name):
    relu, pool, flatten = nn.ReLU, lambda: nn.MaxPool2d(2), nn.Flatten
    layers = {
        "logistic": lambda: [flatten(), nn.Linear(784, 10)],
        "mlp": lambda: [flatten(), nn.Linear(784, 200), relu(), nn.Linear(200, 10)],
        "cnn": lambda: [
            conv(1, 10, 5), pool(), relu(), conv(10, 20, 5), pool(), relu(), flatten(),
            nn.Linear(320, 50), relu(), nn.Linear(50, 10),
        ],
        "lenet5": lambda: [
            conv(1, 6, 3), relu(), pool(), conv(6, 16, 3), relu(), pool(), flatten(),
            nn.Linear(400, 120), relu(), nn.Linear(120, 84), relu(), nn.Linear(84, 10),
        ],
        "vgg": lambda: [
            conv(1, 16, 3, 1), relu(), pool(), conv(16, 32, 3, 1), relu(), pool(), flatten(),
            nn.Linear(1568, 128), relu(), nn.Linear(128, 10),
        ],
    }
    return nn.Sequential(*layers[name]())


def seeded(name, seed):
    """The model with weights uniform in +-1/sqrt(fan in) from the generator."""
    network = model(name)
    values = lcg(seed, sum(p.numel() for p in network.parameters()))
    with torch.no_grad():
        at = 0
        for layer in network:
            if not hasattr(layer, "weight"):
                continue
            bound = np.float32(1.0 / math.sqrt(layer.weight[0].numel()))
            for parameter in (layer.weight, layer.bias):
                part = values[at : at + parameter.numel()]
                part = (np.float32(2) * part - np.float32(1)) * bound
                parameter.copy_(torch.from_numpy(part).reshape(parameter.shape))
                at += parameter.numel()
    return network


def flat(network):
    return torch.cat([p.detach().reshape(-1) for p in network.parameters()])


def examples(seed):
    inputs = torch.from_numpy(lcg(seed, SAMPLES * 784).reshape(SAMPLES, 1, 28, 28))
    # A class is a bright band of rows over noise: something to learn, the same in Rust.
    labels = torch.arange(SAMPLES) * 7 % 10
    for index in range(SAMPLES):
        row = 2 * int(labels[index]) + 4
        inputs[index, 0, row : row + 2, :] += 1.0
    return inputs, labels


def train(name, steps, **sgd):
    network = seeded(name, 3)
    start = flat(network)
    inputs, labels = examples(11)
    optimiser = torch.optim.SGD(network.parameters(), **sgd)
    losses = []
    for step in range(steps):
        batch = [(step * BATCH + i) * 13 % SAMPLES for i in range(BATCH)]
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(network(inputs[batch]), labels[batch])
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return start, flat(network), losses


def step_record(name):
    settings = {"lr": 0.5, "momentum": 0.9, "weight_decay": 0.01}
    start, end, losses = train(name, 1, **settings)
    stride = max(1, len(end) // 150)
    moved = end - start
    return {
        "learning_rate": settings["lr"],
        "momentum": settings["momentum"],
        "weight_decay": settings["weight_decay"],
        "loss": losses[0],
        "stride": stride,
        "weights": [round(w, 9) for w in end[::stride].tolist()],
        "step_norm": moved.double().norm().item(),
        "weights_norm": end.double().norm().item(),
    }


# Rates at which the curve does not amplify rounding: PyTorch's own float32 and float64 runs stay within 1e-5
# of each other. (LeNet5 at 0.05 does not qualify: there they part by 0.5.)
CURVE_RATES = {"cnn": 0.05, "lenet5": 0.04}


def curve_record(name):
    settings = {"lr": CURVE_RATES[name], "momentum": 0.0, "weight_decay": 0.0}
    _, _, losses = train(name, STEPS, **settings)
    return {"learning_rate": settings["lr"], "losses": [round(loss, 7) for loss in losses]}


def main():
    torch.set_num_threads(1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    steps = {name: step_record(name) for name in ("logistic", "mlp", "cnn", "lenet5", "vgg")}
    curves = {name: curve_record(name) for name in CURVE_RATES}
    for file, content in (("one_step.json", steps), ("loss_curves.json", curves)):
        text = json.dumps({"torch": torch.__version__, "models": content})
        (FOLDER / file).write_text(text + "\n")
    for name, curve in curves.items():
        print(name, curve["losses"][0], curve["losses"][-1])


if __name__ == "__main__":
    main()
