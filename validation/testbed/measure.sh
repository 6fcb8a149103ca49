#!/bin/sh
# The measurements of README.md: simulation and testbed of each scenario, five valid runs of each variant, and a report
# that lays them side by side; some are also played packet by packet. As root, after `make linux`, on a machine that
# does nothing else.
#
#     validation/testbed/measure.sh                      all, two hours
#     validation/testbed/measure.sh fig4 two-links       some
#
# What is there already is kept: after a change of the controllers take another folder. RESULTS names one in place of
# results/testbed, BIN one in place of .venv/bin.
set -eu
cd "$(dirname "$0")/../.."
pathweave=${BIN:-.venv/bin}/pathweave
results=${RESULTS:-results/testbed}
trap 'exit 130' INT TERM
failed=0 # where fewer runs were valid, what there is goes into the report

# simulate FILE [OPTION...]: into the folder $results.
simulate() {
    "$pathweave" run "$@" --seeds 5 --out "$results"
}

# play FILE [OPTION...]
play() {
    "$pathweave" testbed "$@" --valid 5 --out "$results" || {
        code=$?
        [ "$code" -eq 1 ] || exit "$code" # refused, or ended by a signal
        failed=1
    }
}

# beside NAME: all of a scenario's folders in one report.
beside() {
    of=$1
    set -- "$results/$of"
    for folder in "$results/$of"-*; do
        [ ! -d "$folder" ] || set -- "$@" "$folder"
    done
    "$pathweave" report "$@" --out "$results/report-$of"
}

for name in "${@:-all}"; do
    case $name in
    all) validation/testbed/measure.sh fig4 fig6 star two-links responsiveness shares quic ;;
    fig4 | fig6)
        set -- "papers/xmp/$name.toml" --size linux --only "beta=beta 4"
        simulate "$@"
        play "$@" --stretch 10
        [ "$name" = fig4 ] || play "$@" --stretch 10 --no-gso
        beside "$name-linux"
        ;;
    star)
        # The testbed's DCTCP is `pw_dctcp`, which cuts at once.
        set -- --set transport.reduction=at-once --set transport.growth_in_cut_round=true
        simulate validation/testbed/star.toml "$@"
        simulate validation/testbed/star.toml "$@" --set transport.growth_by_marked_acks=true
        play validation/testbed/star.toml --stretch 10
        play validation/testbed/star.toml --stretch 10 --set transport.growth_by_marked_acks=true
        # The marks of FCC's own switches.
        marks='fabric.queue.mark={ kind = "proportional" }'
        simulate validation/testbed/star.toml "$@" --only "scheme=FCC" --set "$marks"
        play validation/testbed/star.toml --stretch 10 --only "scheme=FCC" --set "$marks"
        beside star
        ;;
    two-links | responsiveness)
        simulate "validation/testbed/$name.toml"
        play "validation/testbed/$name.toml"
        [ "$name" = two-links ] || play "validation/testbed/$name.toml" --no-gso
        "$pathweave" solve "validation/testbed/$name.toml" --out "$results"
        beside "$name"
        ;;
    shares)
        for scenario in random-losses step-marks halving; do
            simulate "crates/linux/tests/this_machine/itself/$scenario.toml"
            play "crates/linux/tests/this_machine/itself/$scenario.toml"
            [ "$scenario" != halving ] || play "crates/linux/tests/this_machine/itself/$scenario.toml" --no-gso
            beside "$scenario"
        done
        ;;
    quic)
        simulate validation/testbed/quic.toml
        play validation/testbed/quic.toml --transport quic --transport quic-rival=quic --stretch 2
        beside quic
        ;;
    *)
        echo "no measurement is called $name: fig4, fig6, star, two-links, responsiveness, shares, quic or all" >&2
        exit 2
        ;;
    esac
done
exit $failed
