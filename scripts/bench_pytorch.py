"""Trains the same models on the same data with PyTorch and with aerofed, in one run, and prints the ratio.

Needs PyTorch in a virtual environment outside the repository:
    python3 -m venv ../venv && ../venv/bin/pip install torch numpy
    ../venv/bin/python scripts/bench_pytorch.py [--threads 1] [--rounds 5] [--json]
`--command` is what measures aerofed; it gets --model, --batch, --threads and --json. The two engines take
turns, and each one's best round counts, so that other work on the machine hits both alike.
"""

import argparse
import json
import shlex
import subprocess
import time

import torch
from torch import nn

from torch_reference import lcg, model

CASES = [("cnn", 32), ("cnn", 10), ("lenet5", 32), ("vgg", 32), ("mlp", 32), ("logistic", 32)]
SAMPLES = 2000


def ours(command, name, batch, threads):
    options = ["--model", name, "--batch", str(batch), "--threads", str(threads), "--json"]
    answer = subprocess.run(shlex.split(command) + options, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def theirs(name, batch, threads, inputs, labels, seconds=2.0):
    """Best samples/s over bursts of 20 steps of plain SGD."""
    torch.set_num_threads(threads)
    network = model(name)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.01)
    best, step, begin = 0.0, 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        for _ in range(20):
            # Samples by index, as a device draws them: aerofed does the same.
            chosen = (torch.arange(batch) + step * batch) * 17 % SAMPLES
            step += 1
            optimiser.zero_grad()
            loss = nn.functional.cross_entropy(network(inputs[chosen]), labels[chosen])
            loss.backward()
            optimiser.step()
        best = max(best, 20 * batch / (time.perf_counter() - start))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="cargo run --release -q -- bench train")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    inputs = torch.from_numpy(lcg(1, SAMPLES * 784).reshape(SAMPLES, 1, 28, 28))
    labels = torch.arange(SAMPLES) * 7 % 10
    rows = []
    for name, batch in CASES:
        torch_best, our_best = 0.0, None
        for _ in range(options.rounds):
            torch_best = max(torch_best, theirs(name, batch, options.threads, inputs, labels))
            result = ours(options.command, name, batch, options.threads)
            if our_best is None or result["samples_per_s"] > our_best["samples_per_s"]:
                our_best = result
        rows.append(
            {
                "model": name,
                "batch": batch,
                "threads": options.threads,
                "isa": our_best["isa"],
                "samples_per_s": our_best["samples_per_s"],
                "peak_share": our_best["peak_share"],
                "torch_samples_per_s": torch_best,
                "ratio": our_best["samples_per_s"] / torch_best,
            }
        )
    if options.json:
        print(json.dumps({"torch": torch.__version__, "rows": rows}))
        return
    print(f"PyTorch {torch.__version__}, {options.threads} thread(s), best of {options.rounds} rounds")
    print(f"{'model':9} {'batch':>5} {'aerofed/s':>11} {'of peak':>8} {'PyTorch/s':>11} {'ratio':>7}")
    for row in rows:
        print(
            f"{row['model']:9} {row['batch']:5} {row['samples_per_s']:11.0f} {100 * row['peak_share']:6.1f} %"
            f" {row['torch_samples_per_s']:11.0f} {row['ratio']:6.1f}x"
        )


if __name__ == "__main__":
    main()
