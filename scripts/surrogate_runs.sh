#!/bin/sh
# The runs that the law of the surrogate was fitted to and judged on (docs/surrogate.md), into the folder given: those called fit-*
# are fitted to, those called held-* are not. More than an hour of one core. Runs that are there already are left alone.
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
one fit-cnn-a2k-rhfed-2 40 --method rhfed --seed 2 --set data.data_volume=2000
one fit-cnn-a4k-cehfed-1 40 --method cehfed --seed 1
one fit-cnn-a4k-cfed-1 60 --method cfed --seed 1
one fit-cnn-a4k-hfedat-2 40 --method hfedat --seed 2
one fit-cnn-a4k-hfl-1 20 --method hfl --seed 1
one fit-cnn-a4k-rhfed-1 40 --method rhfed --seed 1
one fit-cnn-b6k-hfed-2 40 --method hfed --seed 2 --set data.data_volume=6000 --set data.partition.kind=noniid_b
one fit-cnn-d4k-oort-2 40 --method oort --seed 2 --set "$dirichlet"
one fit-cnn-iid4k-rhfed-1 25 --method rhfed --seed 1 --set data.partition.kind=iid
one fit-cnn-lr001-a4k-cehfed-1 40 --method cehfed --seed 1 --set training.learning_rate=0.01
one fit-cnn-paper-cehfed-3 155 --method cehfed --seed 3 --set training.learning_rate=0.001
one fit-fas-a4k-cehfed-1 40 --method cehfed --seed 1 --set data.set=fashion-mnist
one fit-fas-b4k-rhfed-2 40 --method rhfed --seed 2 --set data.set=fashion-mnist --set data.partition.kind=noniid_b
one fit-len-a4k-rhfed-1 40 --method rhfed --seed 1 --set model.name=lenet5
one fit-log-a2k-cfed-2 60 --method cfed --seed 2 --set model.name=logistic --set data.data_volume=2000
one fit-log-a4k-cehfed-1 40 --method cehfed --seed 1 --set model.name=logistic
one fit-log-a4k-hfl-1 40 --method hfl --seed 1 --set model.name=logistic
one fit-log-a4k-rhfed-1 40 --method rhfed --seed 1 --set model.name=logistic
one fit-log-d4k-oort-2 40 --method oort --seed 2 --set model.name=logistic --set "$dirichlet"
one fit-log-iid6k-rhfed-2 40 --method rhfed --seed 2 --set model.name=logistic --set data.data_volume=6000 --set data.partition.kind=iid
one held-cnn-a2k-cehfed-4 40 --method cehfed --seed 4 --set data.data_volume=2000
one held-cnn-a4k-cehfed-3 40 --method cehfed --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-cehfed-4 40 --method cehfed --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-cehfed-5 40 --method cehfed --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-cehfed-6 40 --method cehfed --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-cehfed-7 40 --method cehfed --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-cfed-3 60 --method cfed --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-cfed-4 60 --method cfed --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-cfed-5 60 --method cfed --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-cfed-6 60 --method cfed --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-cfed-7 60 --method cfed --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-fedprox-3 40 --method fedprox --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-fedprox-4 40 --method fedprox --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-fedprox-5 40 --method fedprox --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-fedprox-6 40 --method fedprox --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-fedprox-7 40 --method fedprox --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-fixed_threshold-3 40 --method fixed_threshold --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-fixed_threshold-4 40 --method fixed_threshold --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-fixed_threshold-5 40 --method fixed_threshold --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-fixed_threshold-6 40 --method fixed_threshold --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-fixed_threshold-7 40 --method fixed_threshold --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-gdhfed-3 40 --method gdhfed --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-gdhfed-4 40 --method gdhfed --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-gdhfed-5 40 --method gdhfed --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-gdhfed-6 40 --method gdhfed --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-gdhfed-7 40 --method gdhfed --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-gshfed-3 40 --method gshfed --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-gshfed-4 40 --method gshfed --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-gshfed-5 40 --method gshfed --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-gshfed-6 40 --method gshfed --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-gshfed-7 40 --method gshfed --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfed-3 40 --method hfed --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfed-4 40 --method hfed --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfed-5 40 --method hfed --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfed-6 40 --method hfed --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfed-7 40 --method hfed --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfedat-3 40 --method hfedat --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfedat-4 40 --method hfedat --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfedat-5 40 --method hfedat --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfedat-6 40 --method hfedat --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfedat-7 40 --method hfedat --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfl-3 40 --method hfl --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfl-4 40 --method hfl --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfl-5 40 --method hfl --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfl-6 40 --method hfl --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-hfl-7 40 --method hfl --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-oort-3 40 --method oort --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-oort-4 40 --method oort --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-oort-5 40 --method oort --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-oort-6 40 --method oort --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-oort-7 40 --method oort --seed 7 --set stop.target_accuracy=0.915
one held-cnn-a4k-rhfed-3 40 --method rhfed --seed 3 --set stop.target_accuracy=0.915
one held-cnn-a4k-rhfed-4 40 --method rhfed --seed 4 --set stop.target_accuracy=0.915
one held-cnn-a4k-rhfed-5 40 --method rhfed --seed 5 --set stop.target_accuracy=0.915
one held-cnn-a4k-rhfed-6 40 --method rhfed --seed 6 --set stop.target_accuracy=0.915
one held-cnn-a4k-rhfed-7 40 --method rhfed --seed 7 --set stop.target_accuracy=0.915
one held-cnn-b2k-gshfed-4 40 --method gshfed --seed 4 --set data.data_volume=2000 --set data.partition.kind=noniid_b
one held-cnn-b4k-cehfed-3 40 --method cehfed --seed 3 --set data.partition.kind=noniid_b
one held-cnn-d6k-rhfed-4 40 --method rhfed --seed 4 --set data.data_volume=6000 --set "$dirichlet"
one held-cnn-iid6k-cehfed-4 25 --method cehfed --seed 4 --set data.data_volume=6000 --set data.partition.kind=iid
one held-cnn-lr001-a4k-rhfed-3 60 --method rhfed --seed 3 --set training.learning_rate=0.01
one held-fas-a4k-cehfed-4 40 --method cehfed --seed 4 --set data.set=fashion-mnist
one held-fas-a6k-rhfed-3 40 --method rhfed --seed 3 --set data.set=fashion-mnist --set data.data_volume=6000
one held-len-b4k-cehfed-3 40 --method cehfed --seed 3 --set model.name=lenet5 --set data.partition.kind=noniid_b
one held-log-a4k-cehfed-3 40 --method cehfed --seed 3 --set model.name=logistic
one held-log-a4k-cehfed-4 40 --method cehfed --seed 4 --set model.name=logistic
one held-log-a4k-cehfed-5 40 --method cehfed --seed 5 --set model.name=logistic
one held-log-a4k-cehfed-6 40 --method cehfed --seed 6 --set model.name=logistic
one held-log-a4k-cehfed-7 40 --method cehfed --seed 7 --set model.name=logistic
one held-log-a4k-cfed-3 60 --method cfed --seed 3 --set model.name=logistic
one held-log-a4k-cfed-4 60 --method cfed --seed 4 --set model.name=logistic
one held-log-a4k-cfed-5 60 --method cfed --seed 5 --set model.name=logistic
one held-log-a4k-cfed-6 60 --method cfed --seed 6 --set model.name=logistic
one held-log-a4k-cfed-7 60 --method cfed --seed 7 --set model.name=logistic
one held-log-a4k-fedprox-3 40 --method fedprox --seed 3 --set model.name=logistic
one held-log-a4k-fedprox-4 40 --method fedprox --seed 4 --set model.name=logistic
one held-log-a4k-fedprox-5 40 --method fedprox --seed 5 --set model.name=logistic
one held-log-a4k-fedprox-6 40 --method fedprox --seed 6 --set model.name=logistic
one held-log-a4k-fedprox-7 40 --method fedprox --seed 7 --set model.name=logistic
one held-log-a4k-fixed_threshold-3 40 --method fixed_threshold --seed 3 --set model.name=logistic
one held-log-a4k-fixed_threshold-4 40 --method fixed_threshold --seed 4 --set model.name=logistic
one held-log-a4k-fixed_threshold-5 40 --method fixed_threshold --seed 5 --set model.name=logistic
one held-log-a4k-fixed_threshold-6 40 --method fixed_threshold --seed 6 --set model.name=logistic
one held-log-a4k-fixed_threshold-7 40 --method fixed_threshold --seed 7 --set model.name=logistic
one held-log-a4k-gdhfed-3 40 --method gdhfed --seed 3 --set model.name=logistic
one held-log-a4k-gdhfed-4 40 --method gdhfed --seed 4 --set model.name=logistic
one held-log-a4k-gdhfed-5 40 --method gdhfed --seed 5 --set model.name=logistic
one held-log-a4k-gdhfed-6 40 --method gdhfed --seed 6 --set model.name=logistic
one held-log-a4k-gdhfed-7 40 --method gdhfed --seed 7 --set model.name=logistic
one held-log-a4k-gshfed-3 40 --method gshfed --seed 3 --set model.name=logistic
one held-log-a4k-gshfed-4 40 --method gshfed --seed 4 --set model.name=logistic
one held-log-a4k-gshfed-5 40 --method gshfed --seed 5 --set model.name=logistic
one held-log-a4k-gshfed-6 40 --method gshfed --seed 6 --set model.name=logistic
one held-log-a4k-gshfed-7 40 --method gshfed --seed 7 --set model.name=logistic
one held-log-a4k-hfed-3 40 --method hfed --seed 3 --set model.name=logistic
one held-log-a4k-hfed-4 40 --method hfed --seed 4 --set model.name=logistic
one held-log-a4k-hfed-5 40 --method hfed --seed 5 --set model.name=logistic
one held-log-a4k-hfed-6 40 --method hfed --seed 6 --set model.name=logistic
one held-log-a4k-hfed-7 40 --method hfed --seed 7 --set model.name=logistic
one held-log-a4k-hfedat-3 40 --method hfedat --seed 3 --set model.name=logistic
one held-log-a4k-hfedat-4 40 --method hfedat --seed 4 --set model.name=logistic
one held-log-a4k-hfedat-5 40 --method hfedat --seed 5 --set model.name=logistic
one held-log-a4k-hfedat-6 40 --method hfedat --seed 6 --set model.name=logistic
one held-log-a4k-hfedat-7 40 --method hfedat --seed 7 --set model.name=logistic
one held-log-a4k-hfl-3 40 --method hfl --seed 3 --set model.name=logistic
one held-log-a4k-hfl-4 40 --method hfl --seed 4 --set model.name=logistic
one held-log-a4k-hfl-5 40 --method hfl --seed 5 --set model.name=logistic
one held-log-a4k-hfl-6 40 --method hfl --seed 6 --set model.name=logistic
one held-log-a4k-hfl-7 40 --method hfl --seed 7 --set model.name=logistic
one held-log-a4k-oort-3 40 --method oort --seed 3 --set model.name=logistic
one held-log-a4k-oort-4 40 --method oort --seed 4 --set model.name=logistic
one held-log-a4k-oort-5 40 --method oort --seed 5 --set model.name=logistic
one held-log-a4k-oort-6 40 --method oort --seed 6 --set model.name=logistic
one held-log-a4k-oort-7 40 --method oort --seed 7 --set model.name=logistic
one held-log-a4k-rhfed-3 40 --method rhfed --seed 3 --set model.name=logistic
one held-log-a4k-rhfed-4 40 --method rhfed --seed 4 --set model.name=logistic
one held-log-a4k-rhfed-5 40 --method rhfed --seed 5 --set model.name=logistic
one held-log-a4k-rhfed-6 40 --method rhfed --seed 6 --set model.name=logistic
one held-log-a4k-rhfed-7 40 --method rhfed --seed 7 --set model.name=logistic
one held-log-b6k-hfed-4 40 --method hfed --seed 4 --set model.name=logistic --set data.data_volume=6000 --set data.partition.kind=noniid_b
one held-log-iid2k-rhfed-4 40 --method rhfed --seed 4 --set model.name=logistic --set data.data_volume=2000 --set data.partition.kind=iid
