"""Trains the same devices on one GPU with aerofed, with PyTorch (vmap, compiled) and with JAX (jit, vmap, scan), in one run, and prints the ratios.

Needs an NVIDIA GPU with PyTorch and JAX for it, and aerofed built for it (nothing of CUDA is needed for that):
    cargo build --release --features cuda
    python scripts/bench_gpu.py [--json] [--cases cnn:32:1000,vgg:32:1000]
Every device has weights of its own and takes 13 steps of SGD; the data set lies on the card. Medians of several rounds; who is not installed is
left out, and said so. aerofed's rounds begin with lists of samples in the machine's memory and end with the averages of fifty devices each there.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import time

import numpy as np

SAMPLES, STEPS, RATE = 2000, 13, 0.01
CASES = "cnn:32:1000,cnn:32:150,lenet5:32:1000,vgg:32:1000"
# conv: filters, kernel, padding; pools are 2 x 2; a relu follows every layer but the last.
MODELS = {
    "cnn": [("conv", 10, 5, 0), ("pool",), ("conv", 20, 5, 0), ("pool",), ("dense", 50), ("dense", 10)],
    "lenet5": [("conv", 6, 3, 0), ("pool",), ("conv", 16, 3, 0), ("pool",), ("dense", 120), ("dense", 84), ("dense", 10)],
    "vgg": [("conv", 16, 3, 1), ("pool",), ("conv", 32, 3, 1), ("pool",), ("dense", 128), ("dense", 10)],
}


def parameters(name, rng):
    """Weights and biases of a model, layer after layer."""
    channels, side, flat, made = 1, 28, None, []
    for layer in MODELS[name]:
        if layer[0] == "pool":
            side //= 2
            continue
        if layer[0] == "conv":
            _, filters, kernel, padding = layer
            shape, fan = (filters, channels, kernel, kernel), channels * kernel * kernel
            channels, side = filters, side + 2 * padding + 1 - kernel
        else:
            fan = flat or channels * side * side
            shape, flat = (layer[1], fan), layer[1]
        bound = fan**-0.5
        made.append(rng.uniform(-bound, bound, shape).astype(np.float32))
        made.append(rng.uniform(-bound, bound, shape[0]).astype(np.float32))
    return made


def median_rate(round_of_training, samples, seconds):
    """Samples a second; the first calls compile."""
    for _ in range(3):
        round_of_training()
    times, begin = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        round_of_training()
        times.append(time.perf_counter() - start)
    return samples / statistics.median(times)


def torch_rates(name, batch, devices, options):
    import torch
    from torch.func import grad, vmap
    from torch.nn import functional as F

    torch.backends.cuda.matmul.allow_tf32 = options.tf32
    torch.backends.cudnn.allow_tf32 = options.tf32
    where, seconds = options.where, options.seconds
    rng = np.random.default_rng(1)
    start = [torch.from_numpy(np.repeat(p[None], devices, 0)).to(where) for p in parameters(name, rng)]
    images = torch.rand(SAMPLES, 1, 28, 28, device=where)
    labels = torch.arange(SAMPLES, device=where) * 7 % 10
    chosen = torch.randint(0, SAMPLES, (STEPS, devices, batch), device=where)

    def logits(weights, x):
        given, layers = iter(weights), MODELS[name]
        for index, layer in enumerate(layers):
            if layer[0] == "pool":
                x = F.max_pool2d(x, 2)
                continue
            if layer[0] == "conv":
                x = F.conv2d(x, next(given), next(given), padding=layer[3])
            else:
                x = F.linear(x.flatten(1), next(given), next(given))
            if index + 1 < len(layers):
                x = F.relu(x)
        return x

    slopes = vmap(grad(lambda weights, x, y: F.cross_entropy(logits(weights, x), y)))

    def step(weights, samples):
        found = slopes(weights, images[samples], labels[samples])
        return [weight - RATE * slope for weight, slope in zip(weights, found)]

    def rounds_of(stepping):
        def one():
            weights = start
            for samples in chosen:
                weights = stepping(weights, samples)
            if where == "cuda":
                torch.cuda.synchronize()

        return one

    samples = devices * STEPS * batch
    return {
        "torch vmap": median_rate(rounds_of(step), samples, seconds),
        "torch vmap + compile": median_rate(rounds_of(torch.compile(step)), samples, seconds),
    }


def jax_rates(name, batch, devices, options):
    import jax
    import jax.numpy as jnp
    from jax import lax

    jax.config.update("jax_default_matmul_precision", "tensorfloat32" if options.tf32 else "highest")
    rng = np.random.default_rng(1)
    start = [jnp.repeat(jnp.asarray(p)[None], devices, 0) for p in parameters(name, rng)]
    images = jnp.asarray(rng.random((SAMPLES, 1, 28, 28), dtype=np.float32))
    labels = jnp.arange(SAMPLES) * 7 % 10
    chosen = jnp.asarray(rng.integers(0, SAMPLES, (devices, STEPS, batch)))

    def logits(weights, x):
        given, layers = iter(weights), MODELS[name]
        for index, layer in enumerate(layers):
            if layer[0] == "pool":
                x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
                continue
            weight, bias = next(given), next(given)
            if layer[0] == "conv":
                pad = [(layer[3], layer[3])] * 2
                x = lax.conv_general_dilated(x, weight, (1, 1), pad) + bias[None, :, None, None]
            else:
                x = x.reshape(x.shape[0], -1) @ weight.T + bias
            if index + 1 < len(layers):
                x = jax.nn.relu(x)
        return x

    def loss(weights, x, y):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits(weights, x)), y[:, None], 1))

    def local_training(weights, order):
        def step(weights, samples):
            found = jax.grad(loss)(weights, images[samples], labels[samples])
            return [weight - RATE * slope for weight, slope in zip(weights, found)], None

        return lax.scan(step, weights, order)[0]

    training = jax.jit(jax.vmap(local_training))
    one = lambda: jax.block_until_ready(training(start, chosen))
    return {"JAX jit vmap scan": median_rate(one, devices * STEPS * batch, options.seconds)}


def ours(command, name, batch, devices, seconds):
    options = f"--device cuda --model {name} --batch {batch} --devices {devices} --steps {STEPS} --seconds {seconds} --json"
    answer = subprocess.run(shlex.split(command) + options.split(), check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", default="target/release/aerofed bench train")
    parser.add_argument("--cases", default=CASES, help="model:batch:devices, separated by commas")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--tf32", action="store_true", help="let PyTorch and JAX round to TF32 and use tensor cores; aerofed stays at f32")
    parser.add_argument("--where", default="cuda", help="PyTorch's name of the device")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for case in options.cases.split(","):
        name, batch, devices = case.split(":")
        batch, devices = int(batch), int(devices)
        row = {"model": name, "batch": batch, "devices": devices}
        result = ours(options.command, name, batch, devices, options.seconds)
        row |= {"aerofed": result["samples_per_s"], "peak_share": result["peak_share"], "device": result["device"]}
        for rates in (torch_rates, jax_rates):
            try:
                row |= rates(name, batch, devices, options)
            except ImportError as missing:
                print(f"left out: {missing}", file=sys.stderr)
        others = [row[key] for key in row if key.startswith(("torch", "JAX"))]
        row["ratio"] = row["aerofed"] / max(others) if others else None
        rows.append(row)
        print("  ".join(f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()), file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps(rows))
        return
    names = ["aerofed", "torch vmap", "torch vmap + compile", "JAX jit vmap scan"]
    print("| model | batch | devices | " + " | ".join(f"{name}, samples/s" for name in names) + " | ratio to the best other | of the f32 peak |")
    print("|---|" + "---|" * (len(names) + 4))
    for row in rows:
        cells = [f"{row[name]:,.0f}".replace(",", " ") if name in row else "-" for name in names]
        ratio = f"{row['ratio']:.1f}x" if row["ratio"] else "-"
        print(f"| {row['model']} | {row['batch']} | {row['devices']} | {' | '.join(cells)} | {ratio} | {100 * row['peak_share']:.0f} % |")


if __name__ == "__main__":
    main()
