#!/bin/sh
# Runs the cases of the comparison, one after the other, and writes a JSON file for each seed.
#
#     run.sh PROGRAM RESULTS [CASE...]
#
# PROGRAM is the built dumbbell and RESULTS a folder; without CASE all cases run. SEEDS="1 2 3" in
# the environment replaces the seeds.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 PROGRAM RESULTS [CASE...]" >&2
    exit 2
fi
program=$1
results=$2
shift 2
all_cases="dctcp-together dctcp-second-later drop-tail-sack drop-tail-no-sack"
cases=${*:-$all_cases}

options_of() {
    case $1 in
    dctcp-together)
        echo "--queue=step-marking --controller=dctcp --measure-from=1s --stop-at=3s" ;;
    dctcp-second-later)
        echo "--queue=step-marking --controller=dctcp --second-flow-start=2s" \
            "--measure-from=3s --stop-at=6s" ;;
    drop-tail-sack)
        echo "--queue=drop-tail --controller=linux-reno --recovery=prr --sack=true" \
            "--measure-from=2s --stop-at=12s" ;;
    drop-tail-no-sack)
        echo "--queue=drop-tail --controller=linux-reno --recovery=classic --sack=false" \
            "--measure-from=2s --stop-at=12s" ;;
    *)
        echo "$0: no case $1; the cases are: $all_cases" >&2
        return 2 ;;
    esac
}

seeds_of() {
    case $1 in
    # The time to fair share scatters most.
    dctcp-second-later) echo "1 2 3 4 5 6 7 8 9 10" ;;
    *) echo "1 2 3 4 5" ;;
    esac
}

mkdir -p "$results"
for case in $cases; do
    options=$(options_of "$case")
    for seed in ${SEEDS:-$(seeds_of "$case")}; do
        result=$results/$case-seed$seed.json
        # shellcheck disable=SC2086  # the options are words without blanks in them
        set -- "$program" --case="$case" --seed="$seed" $options
        echo "$*" >&2
        # A run that was interrupted must not leave half a result.
        "$@" >"$result.partial"
        mv "$result.partial" "$result"
    done
done
