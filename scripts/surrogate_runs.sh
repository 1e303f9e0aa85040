#!/bin/sh
# The runs that the law of the surrogate was fitted to and judged on (docs/surrogate.md), into the folder given: those called fit-*
# are fitted to, those called held-* are not. About an hour of one core. Runs that are there already are left alone.
#
#   scripts/surrogate_runs.sh runs/surrogate
#   aerofed calibrate runs/surrogate/fit-* --held-out runs/surrogate/held-* --out crates/core/src/scenario/law.toml --force
set -eu
folder=${1:?a folder for the runs}
aerofed=${AEROFED:-aerofed}

one() {
    name=$1 rounds=$2
    shift 2
    [ -e "$folder/$name" ] ||
        "$aerofed" run defaults --rounds "$rounds" --threads 1 --quiet --checkpoint-every 0 --out "$folder/$name" "$@" >/dev/null
}

dirichlet='data.partition={kind="dirichlet",alpha=0.3}'
LIST
