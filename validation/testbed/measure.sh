#!/bin/sh
# The measurements of README.md: simulation and testbed of each scenario, five valid runs of each variant, and a report
# that lays them side by side. As root, after `make linux`, on a machine that does nothing else.
#
#     validation/testbed/measure.sh                      all, two hours
#     validation/testbed/measure.sh fig4 two-links       some
#
# What is there already is kept. RESULTS names another folder than results/testbed, BIN another than .venv/bin.
set -eu
cd "$(dirname "$0")/../.."
pathweave=${BIN:-.venv/bin}/pathweave
results=${RESULTS:-results/testbed}
trap 'exit 130' INT TERM
failed=0 # where fewer runs were valid, what there is goes into the report

# both FILE STRETCH [OPTION...]: into the folder $results.
both() {
    file=$1
    stretch=$2
    shift 2
    "$pathweave" run "$file" --seeds 5 --out "$results" "$@"
    "$pathweave" testbed "$file" --valid 5 --stretch "$stretch" --out "$results" "$@" || {
        code=$?
        [ "$code" -eq 1 ] || exit "$code" # refused or interrupted
        failed=1
    }
}

# beside NAME: all of a scenario's folders in one report.
beside() {
    "$pathweave" report "$results/$1" "$results/$1"-* --out "$results/report-$1"
}

for name in "${@:-all}"; do
    case $name in
    all) validation/testbed/measure.sh fig4 fig6 fig6-every-packet star two-links responsiveness shares ;;
    fig4 | fig6)
        both "papers/xmp/$name.toml" 10 --size linux --only "beta=beta 4"
        beside "$name-linux"
        ;;
    fig6-every-packet) # is acknowledged; in a folder of its own, for --set does not change names
        all=$results
        results=$all/every-packet
        both papers/xmp/fig6.toml 10 --size linux --only "beta=beta 4" --set transport.ack_every=1
        beside fig6-linux
        results=$all
        ;;
    star)
        both validation/testbed/star.toml 10
        beside star
        ;;
    two-links | responsiveness)
        both "validation/testbed/$name.toml" 1
        "$pathweave" solve "validation/testbed/$name.toml" --out "$results"
        beside "$name"
        ;;
    shares)
        for scenario in random-losses step-marks halving; do
            both "crates/linux/tests/itself/$scenario.toml" 1
            beside "$scenario"
        done
        ;;
    *)
        echo "no measurement is called $name: fig4, fig6, star, two-links, responsiveness, shares or all" >&2
        exit 2
        ;;
    esac
done
exit $failed
