#!/usr/bin/env python3
"""What Python adds to a run: the same scenario by the command line and by the package, in turn, on one thread; and a selection rule in Python.

python scripts/bench_python.py PROGRAM [PAIRS [ROUNDS]]      # PROGRAM: target/release/aerofed, of the same build as the installed wheel

CPU seconds of whole processes, Python's start and imports included, and of the run itself.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import aerofed
import numpy as np

IN_PYTHON = """
import sys, aerofed
aerofed.run(aerofed.Scenario.load("quickstart", **{"stop.max_rounds": int(sys.argv[2])}), out=sys.argv[1], threads=1, progress=False)
"""


def cpu_s(words: list[str]) -> float:
    """CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rule_us(rounds: int = 200) -> float:
    """Microseconds that a selection rule in Python adds to a round of 150 devices."""

    class Nearest(aerofed.Association):
        def select(self, scene: aerofed.Scene) -> list[np.ndarray]:
            return [np.flatnonzero(scene.devices.nearest == uav) for uav in range(len(scene.uavs.active))]

    scenario = aerofed.Scenario.load("quickstart", faults=[], **{"stop.max_rounds": rounds, "stop.target_accuracy": 1.0})
    own = aerofed.Method(base="hfl", association=Nearest())

    def spent(method: object) -> float:
        began = time.process_time()
        aerofed.run(scenario, method=method, dry=True, threads=1, progress=False)
        return time.process_time() - began

    pairs = [(spent("hfl"), spent(own)) for _ in range(7)]
    return 1e6 * (min(b for _, b in pairs) - min(a for a, _ in pairs)) / rounds


def main() -> None:
    program = sys.argv[1]
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    rounds = sys.argv[3] if len(sys.argv) > 3 else "40"
    ratios, inside = [], []
    for pair in range(pairs):
        with tempfile.TemporaryDirectory() as place:
            cli, py = f"{place}/cli", f"{place}/py"
            a = cpu_s([program, "run", "--rounds", rounds, "--threads", "1", "--quiet", "--out", cli])
            b = cpu_s([sys.executable, "-c", IN_PYTHON, py, rounds])
            same = (Path(cli) / "rounds.csv").read_bytes() == (Path(py) / "rounds.csv").read_bytes()
            clocks = [json.loads((Path(run) / "summary.json").read_text())["wall_clock_s"] for run in (cli, py)]
            ratios.append(b / a)
            inside.append(clocks[1] / clocks[0])
            print(f"pair {pair + 1}: {a:.2f} s and {b:.2f} s of CPU, {clocks[0]:.2f} s and {clocks[1]:.2f} s by the clock; same rounds.csv: {same}")
    print(f"median ratio of CPU seconds: {statistics.median(ratios):.3f}; of the clock of the run: {statistics.median(inside):.3f}")
    print(f"a selection rule in Python adds {rule_us():.0f} us a round of 150 devices")


if __name__ == "__main__":
    main()
