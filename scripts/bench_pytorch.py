"""Trains the same models on the same data with PyTorch and with aerofed, in one run, and prints the ratios.

Needs PyTorch in a virtual environment outside the repository, and a C++ compiler for the compiled variants:
    python3 -m venv ../venv && ../venv/bin/pip install torch numpy
    ../venv/bin/python scripts/bench_pytorch.py [--threads 1] [--rounds 5] [--cases cnn:10,vgg:32] [--variants eager,step] [--json]
`--command` is what measures aerofed; it gets --model, --batch, --threads and --json. The engines take turns, and each
one's best round counts, so that other work on the machine hits all alike. PyTorch trains in 14 ways (`VARIANTS`): plain
(`eager`), which is what one writes down first, and what its documentation suggests for speed. The table has `eager` and
the best of all. A variant that fails is named and left out.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time

import torch
from torch import nn

from torch_reference import lcg, model

CASES = [("cnn", 32), ("cnn", 10), ("lenet5", 32), ("lenet5", 10), ("vgg", 32), ("vgg", 10), ("mlp", 32), ("logistic", 32)]
SAMPLES = 2000
RATE = 0.01


def ours(command, name, batch, threads):
    options = ["--model", name, "--batch", str(batch), "--threads", str(threads), "--json"]
    answer = subprocess.run(shlex.split(command) + options, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def chosen(step, batch):
    """Samples by index, as a device draws them: aerofed does the same."""
    return (torch.arange(batch) + step * batch) * 17 % SAMPLES


def plain(name, batch, layout, fused, compiled):
    """An optimiser and a module, eager or compiled."""
    network = model(name).to(memory_format=layout)
    optimiser = torch.optim.SGD(network.parameters(), lr=RATE, fused=fused)
    forward = torch.compile(network, mode=compiled) if compiled else network

    def step(inputs, labels):
        optimiser.zero_grad()
        images = inputs.contiguous(memory_format=layout)
        nn.functional.cross_entropy(forward(images), labels).backward()
        optimiser.step()

    return step, batch


def one_step(network):
    """Loss, gradients and update as one function of the parameters."""

    def loss(parameters, inputs, labels):
        answer = torch.func.functional_call(network, parameters, (inputs,))
        return nn.functional.cross_entropy(answer, labels)

    def step(parameters, inputs, labels):
        slopes = torch.func.grad(loss)(parameters, inputs, labels)
        return {key: value - RATE * slopes[key] for key, value in parameters.items()}

    return step


def whole_step(name, batch, layout, compiled):
    """Forward, backward and update compiled as one."""
    network = model(name).to(memory_format=layout)
    update = torch.compile(one_step(network), mode=compiled)
    state = {key: value.detach() for key, value in network.named_parameters()}

    def step(inputs, labels):
        state.update(update(dict(state), inputs.contiguous(memory_format=layout), labels))

    return step, batch


def many(name, batch, devices, compiled):
    """Several devices in one batched step, each with weights of its own."""
    network = model(name)
    update = torch.func.vmap(one_step(network))
    if compiled:
        update = torch.compile(update)
    state = {
        key: value.detach().expand(devices, *value.shape).clone()
        for key, value in network.named_parameters()
    }

    def step(inputs, labels):
        inputs = inputs.reshape(devices, batch, *inputs.shape[1:])
        state.update(update(dict(state), inputs, labels.reshape(devices, batch)))

    return step, devices * batch


PLAIN, LAST = torch.contiguous_format, torch.channels_last
VARIANTS = {
    "eager": lambda name, batch: plain(name, batch, PLAIN, False, None),
    "eager-last": lambda name, batch: plain(name, batch, LAST, False, None),
    "fused": lambda name, batch: plain(name, batch, PLAIN, True, None),
    "fused-last": lambda name, batch: plain(name, batch, LAST, True, None),
    "module": lambda name, batch: plain(name, batch, PLAIN, True, "default"),
    "module-last": lambda name, batch: plain(name, batch, LAST, True, "default"),
    "step": lambda name, batch: whole_step(name, batch, PLAIN, "default"),
    "step-last": lambda name, batch: whole_step(name, batch, LAST, "default"),
    "step-tuned": lambda name, batch: whole_step(name, batch, PLAIN, "max-autotune-no-cudagraphs"),
    "step-tuned-last": lambda name, batch: whole_step(name, batch, LAST, "max-autotune-no-cudagraphs"),
    "vmap-8": lambda name, batch: many(name, batch, 8, False),
    "vmap-32": lambda name, batch: many(name, batch, 32, False),
    "vmap-8-compiled": lambda name, batch: many(name, batch, 8, True),
    "vmap-32-compiled": lambda name, batch: many(name, batch, 32, True),
}


def theirs(prepared, inputs, labels, seconds=2.0):
    """Best samples/s over bursts of 20 steps of plain SGD."""
    step, samples = prepared
    best, count, begin = 0.0, 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        for _ in range(20):
            index = chosen(count, samples)
            count += 1
            step(inputs[index], labels[index])
        best = max(best, 20 * samples / (time.perf_counter() - start))
    return best


def prepare(variant, name, batch, inputs, labels):
    """The variant, compiled and warm, or nothing if it cannot be had."""
    try:
        step, samples = VARIANTS[variant](name, batch)
        for count in range(3):
            index = chosen(count, samples)
            step(inputs[index], labels[index])
    except Exception as error:
        print(f"{name}, {variant}: left out ({type(error).__name__})", file=sys.stderr)
        return None
    return step, samples


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="cargo run --release -q -- bench train")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cases", default=",".join(f"{name}:{batch}" for name, batch in CASES))
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    inputs = torch.from_numpy(lcg(1, SAMPLES * 784).reshape(SAMPLES, 1, 28, 28))
    labels = torch.arange(SAMPLES) * 7 % 10
    rows = []
    for case in options.cases.split(","):
        name, batch = case.split(":")[0], int(case.split(":")[1])
        torch.compiler.reset()
        ready = {
            variant: prepare(variant, name, batch, inputs, labels)
            for variant in options.variants.split(",")
        }
        ready = {variant: step for variant, step in ready.items() if step}
        speeds, our_best = dict.fromkeys(ready, 0.0), None
        for _ in range(options.rounds):
            for variant, step in ready.items():
                speeds[variant] = max(speeds[variant], theirs(step, inputs, labels))
            result = ours(options.command, name, batch, options.threads)
            if our_best is None or result["samples_per_s"] > our_best["samples_per_s"]:
                our_best = result
        best = max(speeds, key=speeds.get)
        rows.append(
            {
                "model": name,
                "batch": batch,
                "threads": options.threads,
                "isa": our_best["isa"],
                "samples_per_s": our_best["samples_per_s"],
                "peak_share": our_best["peak_share"],
                "torch_samples_per_s": speeds,
                "torch_best": best,
                "ratio": our_best["samples_per_s"] / speeds[best],
            }
        )
    if options.json:
        print(json.dumps({"torch": torch.__version__, "rows": rows}))
        return
    print(f"PyTorch {torch.__version__}, {options.threads} thread(s), best of {options.rounds} rounds")
    print(f"{'model':9} {'batch':>5} {'aerofed/s':>11} {'of peak':>8} {'eager/s':>9} {'ratio':>7} {'best/s':>9} {'ratio':>7}  which")
    for row in rows:
        speeds, own = row["torch_samples_per_s"], row["samples_per_s"]
        eager = speeds.get("eager", float("nan"))
        print(
            f"{row['model']:9} {row['batch']:5} {own:11.0f} {100 * row['peak_share']:6.1f} %"
            f" {eager:9.0f} {own / eager:6.1f}x {speeds[row['torch_best']]:9.0f} {row['ratio']:6.1f}x  {row['torch_best']}"
        )


if __name__ == "__main__":
    main()
