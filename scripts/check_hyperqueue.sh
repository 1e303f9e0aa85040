#!/usr/bin/env bash
# A sweep of 500 dry runs over a real HyperQueue server with two workers, one of which is killed in the middle: it must be
# complete, and the same table as this process makes by itself, byte for byte.
#
#   scripts/check_hyperqueue.sh [AEROFED]      the program to check [default: target/release/aerofed]
#
# Needs `hq` on the PATH (https://github.com/It4innovations/hyperqueue/releases); without it nothing is checked, and that is said.
set -euo pipefail

aerofed=$(realpath "${1:-$(dirname "$0")/../target/release/aerofed}")
if ! command -v hq >/dev/null; then
    echo "skipped: no \`hq\` on the PATH"
    exit 0
fi
[ -x "$aerofed" ] || { echo "no program $aerofed: cargo build --release"; exit 1; }

place=$(mktemp -d)
export HQ_SERVER_DIR=$place/server
server=''; workers=()
stop() { kill "${workers[@]}" "$server" 2>/dev/null || true; rm -rf "$place"; }
trap stop EXIT

hq server start >"$place/server.log" 2>&1 & server=$!
until hq server info >/dev/null 2>&1; do sleep 0.2; done
for number in 1 2; do
    hq worker start --cpus 1 >"$place/worker$number.log" 2>&1 & workers+=($!)
done

sweep=(sweep paper --dry --random uavs.speed_mps=10..30 --random uavs.battery_j=5e4..5e5,log --samples 500 --rounds "${ROUNDS:-100}")
cd "$place"
echo "--engine local:"
time "$aerofed" "${sweep[@]}" --out local --quiet >local.txt
echo "--engine hyperqueue, one of two workers killed in the middle:"
time {
    "$aerofed" "${sweep[@]}" --out remote --engine hyperqueue >remote.txt & call=$!
    until [ "$(cat remote/rows/*.csv 2>/dev/null | wc -l)" -ge 150 ]; do sleep 0.1; done
    kill -KILL "${workers[0]}"
    echo "killed a worker after $(cat remote/rows/*.csv | wc -l) rows"
    wait "$call"
}
for file in sweep.csv sweep.parquet results.json report.html; do
    cmp "local/$file" "remote/$file"
done
echo "the same: $(($(wc -l <remote/sweep.csv) - 1)) runs"
