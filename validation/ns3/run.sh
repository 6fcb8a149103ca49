#!/bin/sh
# Runs the cases of the comparison, one after the other, and writes a JSON file for each run.
#
#     run.sh PROGRAM RESULTS [CASE...]
#
# PROGRAM is what `make` built and RESULTS a folder. Without CASE all cases run. SEEDS="1 2 3" in
# the environment replaces the seeds; with KEEP=yes what RESULTS holds already is kept. OPTIONS in
# the environment are added to the program's options, for experiments.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 PROGRAM RESULTS [CASE...]" >&2
    exit 2
fi
program=$1
results=$2
shift 2
here=$(dirname "$0")

thresholds="5 10 20 40"
phases="0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"

dctcp_cases() {
    for threshold in $thresholds; do
        echo "dctcp-$1-k$threshold-ack1 dctcp-$1-k$threshold-ack2"
    done
}

reno_cases() {
    for controller in linux-reno new-reno; do
        echo "reno-$1-$controller-sack reno-$1-$controller-no-sack"
    done
}

all_cases="$(dctcp_cases alone) $(dctcp_cases together)
    dctcp-second-later-ack1 dctcp-second-later-ack2 fat-tree
    $(reno_cases alone) $(reno_cases together)"
cases=${*:-$all_cases}

# The options of a case, by the parts of its name.
options_of() {
    case $1 in
    dctcp-alone-*) echo "--flows=1 --measure-from=100ms --stop-at=500ms" ;;
    dctcp-together-*) echo "--measure-from=200ms --stop-at=1200ms" ;;
    # With the usual 40 ms one phase of twenty shows nothing but that timer (README.md).
    dctcp-second-later-*)
        echo "--acknowledge-timeout=1ms --measure-from=600ms --stop-at=1100ms" ;;
    fat-tree)
        echo "--network=routed --paths=$results/fat-tree.paths --link-delay=20us" \
            "--marking-threshold=10 --measure-from=100ms --stop-at=300ms" ;;
    reno-alone-*) echo "--flows=1 --measure-from=500ms --stop-at=3s" ;;
    reno-together-*) echo "--measure-from=1s --stop-at=6s" ;;
    *)
        echo "$0: no case $1; the cases are:" $all_cases >&2
        return 2 ;;
    esac
    case $1 in
    reno-*) echo "--queue=drop-tail --initial-slow-start-threshold=65535" ;;
    *) echo "--queue=step-marking --controller=dctcp" ;;
    esac
    case $1 in
    *-linux-reno-*) echo "--controller=linux-reno" ;;
    *-new-reno-*) echo "--controller=new-reno" ;;
    esac
    case $1 in
    *-no-sack) echo "--recovery=classic --sack=false" ;;
    *-sack) echo "--recovery=prr --sack=true" ;;
    esac
    case $1 in
    *-k*-ack*)
        threshold=${1##*-k}
        echo "--marking-threshold=${threshold%-ack*}" ;;
    esac
    case $1 in
    *-ack*) echo "--acknowledge-every=${1##*-ack}" ;;
    esac
}

# When the second flow starts, in a phase of the first one's sawtooth. The period is about 2 ms. A
# step that does not divide it spreads the starts over three periods.
start_of_phase() {
    echo "$((300000 + 370 * $1))us"
}

seeds_of() {
    case $1 in
    # One flow has nothing that chance could change.
    *-alone-*) echo "1" ;;
    fat-tree | dctcp-together-*) echo "1 2 3" ;;
    *) echo "1 2 3 4 5" ;;
    esac
}

# Runs the program with the other arguments and writes RESULTS/$1.json.
run() {
    result=$results/$1.json
    shift
    if [ "${KEEP:-no}" = yes ] && [ -s "$result" ]; then
        return
    fi
    # shellcheck disable=SC2086  # the options are words without blanks in them
    set -- "$program" "$@" ${OPTIONS:-}
    echo "$*" >&2
    # A run that was interrupted must not leave half a result.
    "$@" >"$result.partial"
    mv "$result.partial" "$result"
}

mkdir -p "$results"
for name in $cases; do
    options=$(options_of "$name")
    case $name in
    dctcp-second-later-*)
        # One phase is one sample, whatever the number of seeds.
        for phase in $phases; do
            # shellcheck disable=SC2086
            run "$name-phase$phase" --case="$name" --seed=$((phase + 1)) $options \
                --second-flow-start="$(start_of_phase "$phase")"
        done ;;
    *)
        if [ "$name" = fat-tree ]; then
            python3 "$here/../listed_paths.py" "$here/../scenarios/fat-tree.toml" \
                >"$results/fat-tree.paths"
        fi
        for seed in ${SEEDS:-$(seeds_of "$name")}; do
            # shellcheck disable=SC2086
            run "$name-seed$seed" --case="$name" --seed="$seed" $options
        done ;;
    esac
done
