#!/usr/bin/env python3
"""Draws the worlds of experiments/worlds.toml: places, fleets, radios, processors, data and models that nothing was tuned on.

    scripts/draw_worlds.py          # the points of the axis, as they stand in the file
    scripts/draw_worlds.py 4711     # as many other worlds, all with logistic regression and without targets: to choose something on

Each world is drawn from the stream of its own number, so that more of them do not change the first ones. Models are not drawn: two of the smallest
worlds have convolutional networks, which take a hundred times as long as logistic regression. Targets are not drawn: TARGETS has what a random fifth of the devices reached in forty rounds of
seed 1, times 0.9, rounded down to whole percents (`aerofed run` with --method rhfed and the settings of the world).
"""

import random
import sys

JUDGED = 1118
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else JUDGED
MODELS = {3: "lenet5", 8: "cnn"}  # all others: logistic
TARGETS = [0.74, 0.73, 0.74, 0.75, 0.7, 0.66, 0.71, 0.77, 0.54, 0.71, 0.68, 0.76, 0.75, 0.71]


def log_uniform(rng, low, high):
    return low * (high / low) ** rng.random()


def digits(number, count=3):
    """So many digits, as few letters as that takes."""
    return f"{float(f'{number:.{count}g}'):g}"


def world(number):
    rng = random.Random(f"{SEED}-{number}")
    model = MODELS.get(number, "logistic") if SEED == JUDGED else "logistic"
    devices = int(log_uniform(rng, 30, 600))
    uavs = int(log_uniform(rng, 2, 13))
    bandwidth = log_uniform(rng, 0.02, 2)
    processors = log_uniform(rng, 0.1, 2)
    hover_w = log_uniform(rng, 50, 300)
    data = rng.choice(["mnist", "mnist", "fashion-mnist"])
    partition = rng.choice(["noniid_a", "noniid_b", "iid", "dirichlet", "dirichlet"])
    alpha = log_uniform(rng, 0.1, 1)
    mobility = rng.choice(["coverage_hop", "static", "random_waypoint", "gauss_markov"])
    edge_rounds = rng.randint(3, 10)
    volume = min(max(27 * devices, 1500), 7500 - 200 * uavs)  # of the embedded 8000

    def scaled(low, high, factor):
        return f"[{digits(low * factor)}, {digits(high * factor)}]"

    mix = f'{{kind="dirichlet", alpha={digits(alpha, 2)}}}' if partition == "dirichlet" else f'{{kind="{partition}"}}'
    settings = [
        f"devices.count={devices}",
        f"uavs.count={uavs}",
        f"uavs.bandwidth_up_hz={scaled(20e6, 100e6, bandwidth)}",
        f"uavs.bandwidth_down_hz={scaled(20e6, 100e6, bandwidth)}",
        f"radio.uav_link_bandwidth_hz={digits(2e6 * bandwidth)}",
        f"devices.cpu_hz={scaled(1e9, 1e10, processors)}",
        f"uavs.hover_power_w={digits(hover_w)}",
        f"data.set={data}",
        f"data.data_volume={volume}",
        f"data.partition={mix}",
        f"model.name={model}",
        f"mobility.kind={mobility}",
        f"training.max_edge_rounds={edge_rounds}",
    ]
    share = f"Dirichlet {digits(alpha, 2)}" if partition == "dirichlet" else {"noniid_a": "two labels", "noniid_b": "2 to 10 labels", "iid": "iid"}[partition]
    words = f"{uavs} UAVs, {devices} devices, {data}, {model}, {share}, bandwidth x {digits(bandwidth, 2)}, processors x {digits(processors, 2)}, hovering {digits(hover_w)} W, {mobility}, K = {edge_rounds}"
    return words, settings


for number, target in enumerate(TARGETS):
    words, settings = world(number)
    judged = f"target = {target}, " if SEED == JUDGED else ""
    if judged:
        settings.append(f"stop.target_accuracy={target}")
    listed = "".join(f"\n        '{setting}'," for setting in settings)
    print(f'    # {words}\n    {{ label = "{number + 1}", {judged}set = [{listed}\n    ] }},')
