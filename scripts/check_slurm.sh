#!/usr/bin/env bash
# A sweep over a real Slurm: it must be complete, and the same table as this process makes by itself, byte for byte.
#
#   scripts/check_slurm.sh [AEROFED]      the program to check [default: target/release/aerofed]
#
# Needs a Slurm that takes jobs (`sinfo` lists a node that is up); without it nothing is checked, and that is said. One machine
# will do, with Debian's packages slurmctld, slurmd and munge, started as root:
#
#   apt-get install slurmctld slurmd munge
#   cat >/etc/slurm/slurm.conf <<END
#   ClusterName=test
#   SlurmctldHost=$(hostname -s)
#   ProctrackType=proctrack/linuxproc
#   TaskPlugin=task/none
#   SlurmUser=root
#   StateSaveLocation=/var/spool/slurmctld
#   SlurmdSpoolDir=/var/spool/slurmd
#   SelectType=select/cons_tres
#   NodeName=$(hostname -s) CPUs=$(nproc) RealMemory=2000 State=UNKNOWN
#   PartitionName=all Nodes=ALL Default=YES State=UP
#   END
#   mkdir -p /var/spool/slurmctld /var/spool/slurmd /run/munge && chown munge /run/munge
#   su -s /bin/sh munge -c munged; slurmctld; slurmd
set -euo pipefail

aerofed=$(realpath "${1:-$(dirname "$0")/../target/release/aerofed}")
if ! command -v sbatch >/dev/null || ! sinfo --noheader --states=idle,mixed,alloc | grep -q .; then
    echo "skipped: no Slurm that takes jobs"
    exit 0
fi
[ -x "$aerofed" ] || { echo "no program $aerofed: cargo build --release"; exit 1; }

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"
sweep=(sweep paper --dry --random uavs.speed_mps=10..30 --samples "${RUNS:-100}" --rounds "${ROUNDS:-20}")
"$aerofed" "${sweep[@]}" --out local --quiet >local.txt

# Interrupted in the middle, then taken up.
"$aerofed" "${sweep[@]}" --out remote --engine slurm --tasks 8 & call=$!
until [ -e remote/engine/job.json ]; do sleep 0.1; done
sleep 1
kill -INT "$call"
code=0; wait "$call" || code=$?
[ "$code" = 130 ] || [ "$code" = 0 ] || { echo "exit code $code"; exit 1; }
"$aerofed" "${sweep[@]}" --out remote --engine slurm --tasks 8 >remote.txt
for file in sweep.csv sweep.parquet results.json report.html; do
    cmp "local/$file" "remote/$file"
done
echo "the same: $(($(wc -l <remote/sweep.csv) - 1)) runs"
