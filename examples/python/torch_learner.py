"""Devices that train a PyTorch model of one's own, with one's own data loader.

python examples/python/torch_learner.py [ROUNDS]

Needs torch. aerofed does time, energy, batteries, selection and merging; which samples a device has, what the model is and how it steps stands here.
The data are drawn: points of two classes on two spirals, a part of the turn for each device.
"""

from __future__ import annotations

import sys
from typing import Any

import aerofed
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def spirals(count: int, turn: tuple[float, float], seed: int) -> TensorDataset:
    """Points of two classes between two moments of a turn."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, count)
    at = rng.uniform(*turn, count)
    angle = 2 * np.pi * at + np.pi * labels
    points = np.stack([at * np.cos(angle), at * np.sin(angle)], axis=1) + rng.normal(0, 0.02, (count, 2))
    return TensorDataset(torch.tensor(points, dtype=torch.float32), torch.tensor(labels))


class Spirals(aerofed.Learner):
    """A small network in torch; a device's model is loaded into it, trained, and read out again."""

    def __init__(self, devices: int, uavs: int, seed: int = 1) -> None:
        torch.manual_seed(seed)
        self.network = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
        starts = np.linspace(0.1, 0.8, devices)
        self.data = [spirals(64, (start, start + 0.2), device) for device, start in enumerate(starts)]
        self.held_out = spirals(1000, (0.1, 1.0), devices + 1)
        parameters = sum(tensor.numel() for tensor in self.network.parameters())
        self.task = aerofed.Task(parameters, [64] * devices, [0] * uavs, sample_bits=64.0, classes=2)

    def load(self, model: NDArray[np.float32]) -> None:
        nn.utils.vector_to_parameters(torch.from_numpy(model), self.network.parameters())

    def flat(self) -> NDArray[np.float32]:
        vector = nn.utils.parameters_to_vector(self.network.parameters())
        array: NDArray[np.float32] = vector.detach().numpy().copy()
        return array

    def first_model(self) -> NDArray[np.float32]:
        return self.flat()

    def train(self, job: aerofed.Job) -> tuple[NDArray[np.float32], float]:
        self.load(job.model)
        optimizer = torch.optim.SGD(self.network.parameters(), lr=0.2, momentum=0.9)
        generator = torch.Generator().manual_seed(job.seed % 2**63)
        loader = DataLoader(self.data[job.device], batch_size=16, shuffle=True, generator=generator)
        losses: list[float] = []
        while len(losses) < job.local_iterations:
            for points, labels in loader:
                if len(losses) == job.local_iterations:
                    break
                optimizer.zero_grad()
                loss: Any = nn.functional.cross_entropy(self.network(points), labels)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        return self.flat(), float(np.mean(losses))

    def test(self, model: NDArray[np.float32]) -> tuple[float, float]:
        self.load(model)
        points, labels = self.held_out.tensors
        with torch.no_grad():
            outputs = self.network(points)
        right = (outputs.argmax(1) == labels).float().mean()
        return nn.functional.cross_entropy(outputs, labels).item(), right.item()


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    torch.set_num_threads(1)
    scenario = aerofed.Scenario.load("quickstart")
    learner = Spirals(scenario.devices.count, scenario.uavs.count)
    run = aerofed.run(scenario, method="hfl", rounds=rounds, learner=learner)
    print(run)


if __name__ == "__main__":
    main()
