#!/usr/bin/env bash
# Fuzzes every target for SECONDS each (60 unless told), or the targets named behind it, on one core:
#   scripts/fuzz.sh [SECONDS] [TARGET ...]
# Needs cargo-fuzz (cargo install cargo-fuzz) and a C++ compiler. A crash ends the script with its input under
# fuzz/artifacts/; copy that to fuzz/seeds/TARGET/, and the test suite will run it for ever.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:-60}
shift || true
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(scenario cell fleet idx images safetensors checkpoint)

# The coverage flags are unstable: this lets the stable compiler take them, so that no nightly is needed.
export RUSTC_BOOTSTRAP=1
# Targets that write files do so in memory where there is such a place. The fuzzer ends without cleaning up.
[ -d /dev/shm ] && TMPDIR=/dev/shm
TMPDIR=$(mktemp -d "${TMPDIR:-/tmp}/aerofed-fuzz.XXXXXX")
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT

# The address sanitizer would halve the speed, and what reads the input is safe Rust.
# The first build takes minutes: everything is compiled with coverage counters.
nice -n 10 cargo fuzz build --sanitizer none

# The time limit for one input is by the clock, so it is long enough for a machine that has little time left over.
log=$TMPDIR/log
total=0
for target in "${targets[@]}"; do
    mkdir -p "fuzz/corpus/$target"
    nice -n 10 cargo fuzz run --sanitizer none "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -timeout=300 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
        >"$log" 2>&1 || { tail -n 40 "$log"; exit 1; }
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
    printf '%-12s %12s executions, %6s edges covered\n' "$target" "$executions" "$covered"
    total=$((total + executions))
done
printf '%-12s %12s executions\n' total "$total"
