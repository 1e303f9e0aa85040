#!/usr/bin/env python3
"""What docs/surrogate.md tells besides the report of `aerofed calibrate`: how far rounds are off by group of runs, rounds by method, and how
well single seeds of runs that trained agree on the order of methods.

    aerofed calibrate runs/surrogate/fit-* --held-out runs/surrogate/held-* --out law.toml > report.txt
    scripts/surrogate_tables.py report.txt runs/surrogate
"""
import csv
import itertools
import math
import pathlib
import re
import statistics
import sys

ROW = re.compile(r"\| (held-\S+) +\|.*\| ([^|]*/[^|]*)\|$")
GROUPS = ["", "cnn", "log", "fas", "len"]
SEEDS = [3, 4, 5, 6, 7]


def rounds_run(folder, name):
    with open(folder / name / "rounds.csv") as file:
        return [float(row["test_accuracy"]) for row in csv.DictReader(file)]


def misses(folder, name, pairs):
    """Relative errors of rounds to targets; what was not reached counts as the length of the run that was asked for."""
    asked = 60 if re.search("cfed|lr001", name) else max(40, len(rounds_run(folder, name)))
    for pair in pairs.split(","):
        real, predicted = (part.strip() for part in pair.split("/"))
        if real == predicted == "-":
            continue
        real, predicted = (asked if part == "-" else int(part) for part in (real, predicted))
        yield abs(predicted - real) / real


def reached(accuracies, target):
    means = (sum(accuracies[i - 2 : i + 1]) / 3 for i in range(2, len(accuracies)))
    return next((nth + 3 for nth, mean in enumerate(means) if mean >= target), None)


def tau(one, other):
    sign = lambda value: (value > 0) - (value < 0)
    both = [(x, y) for x, y in zip(one, other) if x and y]
    steps = [(sign(a - c), sign(b - d)) for (a, b), (c, d) in itertools.combinations(both, 2)]
    ups = [sum(p * p for p, _ in steps), sum(q * q for _, q in steps)]
    return sum(p * q for p, q in steps) / math.sqrt(ups[0] * ups[1])


def by_method(rows, model, targets):
    """Means over the seeds of a method, of what ran and what was predicted; a run that does not get there counts with none."""
    print(f"\n| {model} | " + " | ".join(f"{target:.0%}" for target in targets) + " |\n|" + "---|" * (len(targets) + 1))
    own = {}
    for name, pairs in rows:
        if match := re.fullmatch(rf"held-{model}-a4k-(\w+)-\d", name):
            own.setdefault(match[1], []).append([pair.split("/") for pair in pairs.split(",")])
    for method, runs in own.items():
        cells = []
        for place in range(len(targets)):
            both = ([run[place][which].strip() for run in runs] for which in (0, 1))
            cells.append(" / ".join("-" if "-" in each else f"{statistics.mean(map(int, each)):.1f}" for each in both))
        print(f"| {method} | " + " | ".join(cells) + " |")
    print()


def main(report, folder):
    folder = pathlib.Path(folder)
    rows = [match.groups() for line in open(report) if (match := ROW.match(line.strip()))]
    for group in GROUPS:
        own = [row for row in rows if row[0].startswith(f"held-{group}")]
        errors = [error for name, pairs in own for error in misses(folder, name, pairs)]
        if not errors:
            continue
        print(f"{group or 'all'}: {len(own)} runs, {len(errors)} targets, median {statistics.median(errors):.0%}")
    for model, targets in [("cnn", (0.7, 0.8, 0.9)), ("log", (0.7, 0.8))]:
        by_method(rows, model, targets)
        methods = sorted({p.name.split("-")[3] for p in folder.glob(f"held-{model}-a4k-*-3")})
        for target in targets:
            rounds = {seed: [reached(rounds_run(folder, f"held-{model}-a4k-{m}-{seed}"), target) for m in methods] for seed in SEEDS}
            whole = [place for place in range(len(methods)) if all(rounds[seed][place] for seed in SEEDS)]
            order = lambda seeds: [statistics.mean(rounds[seed][place] for seed in seeds) for place in whole]
            single = [tau(order([a]), order([b])) for a, b in itertools.combinations(SEEDS, 2)]
            halves = list(itertools.combinations(SEEDS, len(SEEDS) // 2))
            split = [tau(order(half), order([s for s in SEEDS if s not in half])) for half in halves]
            print(
                f"{model}, {target:.0%}, {len(whole)} methods: tau between single seeds {statistics.mean(single):.2f}"
                f" ({min(single):.2f} to {max(single):.2f}), between {len(SEEDS) // 2} and the others {statistics.mean(split):.2f}"
            )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
