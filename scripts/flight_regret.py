#!/usr/bin/env python3
"""What the rule that decides about flights costs against the better of always moving and never moving.

    aerofed reproduce flights.toml --scale paper --out OUT   flights.toml: example draw_flights of aerofed-experiment
    python3 scripts/flight_regret.py OUT/runs.csv          a Markdown table: each fault, the worst, the mean

The regret of a rule in a case is what it takes, relative to the better of `always` and `never`, less 1: in time, in energy, and in the
weighted cost 0.5 J + 0.5 s, which is what the rule minimises and by which the better of the two is found. Numbers are means over seeds. A run that does not reach its target counts
with the whole of what it took, and is marked.
"""

import csv
import sys
from collections import defaultdict

WEIGHTS = {"energy_j": 0.5, "time_s": 0.5}


def cases(path):
    """(training, fault) -> label -> (seconds, joules, whether all reached it), means over seeds."""
    found = defaultdict(lambda: defaultdict(list))
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            reached = row["reached"] == "true"
            prefix = "" if reached else "run_"
            taken = (float(row[prefix + "time_s"]), float(row[prefix + "energy_j"]), reached)
            found[row["training"], row["fault"]][row["label"]].append(taken)
    mean = lambda numbers: sum(numbers) / len(numbers)
    merged = lambda runs: (mean([run[0] for run in runs]), mean([run[1] for run in runs]), all(run[2] for run in runs))
    return {case: {label: merged(runs) for label, runs in labels.items()} for case, labels in found.items()}


def cost(taken):
    return WEIGHTS["time_s"] * taken[0] + WEIGHTS["energy_j"] * taken[1]


def regrets(case, label):
    """In time, energy and weighted cost."""
    # Who misses the target is worse than who does not, whatever it took.
    better = min((case["always"], case["never"]), key=lambda taken: (not taken[2], cost(taken)))
    ours = case[label]
    return ours[0] / better[0] - 1, ours[1] / better[1] - 1, cost(ours) / cost(better) - 1


def shown(taken):
    return f"{taken[0]:.0f} s, {taken[1] / 1e3:.1f} kJ" + ("" if taken[2] else " (missed)")


def percent(number):
    return f"{100 * number:+.1f} %"


def main():
    found = cases(sys.argv[1])
    print("| training | fault | worthwhile | always | never | regret: time | energy | cost |")
    print("|---|---|---|---|---|---|---|---|")
    for (training, fault), case in found.items():
        columns = [shown(case[label]) for label in ("worthwhile", "always", "never")]
        print(f"| {training} | {fault} | " + " | ".join(columns) + " | " + " | ".join(map(percent, regrets(case, "worthwhile"))) + " |")
    print("\n| rule | mean regret: time | energy | cost | worst: time | energy | cost | cases above 5 % in cost |")
    print("|---|---|---|---|---|---|---|---|")
    for label in ("worthwhile", "always", "never"):
        all_of = [regrets(case, label) for case in found.values()]
        columns = list(zip(*all_of))
        means = [percent(sum(column) / len(column)) for column in columns]
        worst = [percent(max(column)) for column in columns]
        above = sum(cost > 0.05 for cost in columns[2])
        print(f"| {label} | " + " | ".join(means + worst) + f" | {above} of {len(all_of)} |")


if __name__ == "__main__":
    main()
