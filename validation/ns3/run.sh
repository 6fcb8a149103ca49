#!/bin/sh
# Runs the cases of the comparison, one after the other, and writes a JSON file for each seed.
#
#     run.sh PROGRAM RESULTS [CASE...]
#
# PROGRAM is the built dumbbell and RESULTS a folder. Without CASE all cases run but those that
# overshoot in slow start. SEEDS="1 2 3" in the environment replaces the seeds; with KEEP=yes what
# RESULTS holds already is kept.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 PROGRAM RESULTS [CASE...]" >&2
    exit 2
fi
program=$1
results=$2
shift 2
all_cases="dctcp-together dctcp-second-later drop-tail-sack drop-tail-no-sack"
more_cases="drop-tail-sack-overshoot drop-tail-no-sack-overshoot"
cases=${*:-$all_cases}

options_of() {
    drop_tail="--queue=drop-tail --controller=linux-reno --measure-from=2s --stop-at=12s"
    sack="--recovery=prr --sack=true"
    no_sack="--recovery=classic --sack=false"
    no_overshoot="--initial-slow-start-threshold=65535"
    case $1 in
    dctcp-together)
        echo "--queue=step-marking --controller=dctcp --measure-from=1s --stop-at=3s" ;;
    dctcp-second-later)
        echo "--queue=step-marking --controller=dctcp --second-flow-start=2s" \
            "--measure-from=3s --stop-at=6s" ;;
    drop-tail-sack) echo "$drop_tail $sack $no_overshoot" ;;
    drop-tail-no-sack) echo "$drop_tail $no_sack $no_overshoot" ;;
    drop-tail-sack-overshoot) echo "$drop_tail $sack" ;;
    drop-tail-no-sack-overshoot) echo "$drop_tail $no_sack" ;;
    *)
        echo "$0: no case $1; the cases are: $all_cases $more_cases" >&2
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
for name in $cases; do
    options=$(options_of "$name")
    for seed in ${SEEDS:-$(seeds_of "$name")}; do
        result=$results/$name-seed$seed.json
        if [ "${KEEP:-no}" = yes ] && [ -s "$result" ]; then
            continue
        fi
        # shellcheck disable=SC2086  # the options are words without blanks in them
        set -- "$program" --case="$name" --seed="$seed" $options
        echo "$*" >&2
        # A run that was interrupted must not leave half a result.
        "$@" >"$result.partial"
        mv "$result.partial" "$result"
    done
done
