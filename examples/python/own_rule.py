"""A selection rule of one's own in ten lines, beside two of the program's.

python examples/python/own_rule.py [SEEDS]
"""

import sys

import aerofed
import numpy as np


class Fastest(aerofed.Association):
    """Each UAV takes its covered devices with the fastest processors, the more the longer the run lasts."""

    def select(self, scene: aerofed.Scene) -> list[np.ndarray]:
        cells = [np.flatnonzero(scene.devices.nearest == uav) for uav in range(len(scene.uavs.active))]
        return [cell[np.argsort(-scene.devices.cpu_hz[cell])][: 4 + scene.round] for cell in cells]


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    scenario = aerofed.Scenario.load("quickstart", **{"model.name": "logistic"})
    found = aerofed.compare(scenario, methods=[Fastest(), "cehfed", "hfl"], seeds=seeds, targets=[0.8], rounds=25, out="runs/own-rule")
    print(found)


if __name__ == "__main__":
    main()
