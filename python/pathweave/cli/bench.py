"""`pathweave bench`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.cli import completion

if TYPE_CHECKING:
    from rich.table import Table

    from pathweave.bench.cases import Result


def bench(
    folder: Annotated[
        Path | None,
        typer.Argument(help="With --against: the folder with its program.", metavar="[DIR]"),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            help="Compare with another simulator, whose program is in DIR: htsim or ns3.",
            metavar="SIMULATOR",
            autocompletion=completion.other_simulators,
        ),
    ] = None,
    case: Annotated[
        list[str] | None,
        typer.Option(
            help="With --against: a case, k8-dctcp, k8-lia4, k16-dctcp or k16-lia4; once for each. "
            "[default: k8-dctcp and k8-lia4]",
            metavar="NAME",
            autocompletion=completion.compared_cases,
        ),
    ] = None,
    turns: Annotated[
        int | None,
        typer.Option(
            help="With --against: timed runs of each simulator. [default: 3]", metavar="N", min=1
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            help="With --against: wall time that a run may take. [default: 600]",
            metavar="SECONDS",
            min=0.001,
        ),
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Also write the results as JSON.", metavar="FILE")
    ] = None,
    until: Annotated[
        str, typer.Option(help="Simulated time of the timed runs.", metavar="TIME")
    ] = "20 ms",
    instructions: Annotated[
        bool, typer.Option(help="Count instructions, where valgrind is installed.")
    ] = True,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Only compare instructions with the recorded ones, both without link-time "
            "optimisation; a rise of more than 3 % fails.",
        ),
    ] = False,
    record: Annotated[
        str | None,
        typer.Option(
            help="Only count instructions, and record them with this reason.", metavar="REASON"
        ),
    ] = None,
) -> None:
    """Measure the speed of the engine on the eight cases under benches/.

    Needs the source tree and cargo. Instructions per packet-hop come from two runs of T and 2T
    under callgrind, as (I(2T) - I(T)) / (hops(2T) - hops(T)). benches/instructions.json has those
    of shorter runs for each version of rustc: --check compares with them, --record writes them.

    With --against the same permutation of unlimited flows runs in another simulator and in
    Pathweave, in turn: the same paths, rates, delays, queues, packets and simulated time. Nothing
    of the other simulator is built or fetched; docs/performance.md says how to build its program.

    Example: pathweave bench --json bench.json

    Example: pathweave bench --against ns3 validation/ns3/build
    """
    if against is not None:
        from pathweave.cli.against import compare_with

        _refuse_beside_against(check=check, record=record, json=json)
        compare_with(against, folder, case or [], until, turns or 3, timeout or 600.0, json)
        return
    _refuse_without_against(folder, {"--case": case, "--turns": turns, "--timeout": timeout})
    if check or record is not None:
        _compare_instructions(record)
        return
    from pathweave.bench import native
    from pathweave.bench.cases import run_cases, to_json
    from pathweave.cli.console import messages, output
    from pathweave.errors import InputError
    from pathweave.results.jsonfile import write_json

    if json is not None and not json.parent.is_dir():
        raise InputError(f"there is no folder {json.parent}")
    console = messages()
    count = instructions and native.has_valgrind()
    if instructions and not count:
        console.print("valgrind is not installed: instructions are not counted")
    tree = native.source_tree()
    results = list(
        run_cases(tree, until, count=count, said=lambda text: console.print(text, markup=False))
    )
    output().print(_table(results))
    if json is not None:
        write_json(json, to_json(results))


def _refuse_beside_against(*, check: bool, record: str | None, json: Path | None) -> None:
    from pathweave.errors import InputError

    if check or record is not None:
        other = "--check" if check else "--record"
        raise InputError(f"{other} compares with recorded instructions: leave out --against or it")
    if json is not None and not json.parent.is_dir():
        raise InputError(f"there is no folder {json.parent}")


def _refuse_without_against(folder: Path | None, options: dict[str, object]) -> None:
    from pathweave.errors import InputError

    given = [name for name, value in options.items() if value]
    if folder is not None:
        given.insert(0, f"the folder {folder}")
    if given:
        raise InputError(f"{given[0]} goes with --against htsim or --against ns3")


def _compare_instructions(reason: str | None) -> None:
    from pathweave.bench import native, recorded
    from pathweave.cli.console import messages, output

    if reason is not None:
        recorded.require_reason(reason)  # Counting takes minutes.
    console = messages()
    tree = native.source_tree()
    compiler = recorded.compiler_version(tree)
    counted = recorded.count(tree, lambda text: console.print(text, markup=False))
    compared = recorded.compare(tree, compiler, counted)
    for comparison in compared:
        text = comparison.advice() if reason is None else comparison.sentence()
        output().print(text, markup=False, highlight=False, soft_wrap=True)
    if reason is not None:
        recorded.record(tree, compiler, counted, reason)
    elif any(comparison.has_risen for comparison in compared):
        raise typer.Exit(1)


def _table(results: list[Result]) -> Table:
    from rich import box
    from rich.table import Table

    from pathweave.results.units import count, number

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", show_edge=False)
    table.add_column("case")
    heads = (
        "packet-hops",
        "per CPU-s",
        "instructions\nper hop",
        "peak RSS\n(MB)",
        "goodput\nshare",
    )
    for head in heads:
        table.add_column(head, justify="right", vertical="bottom")
    for result in results:
        table.add_row(
            result.case,
            count(result.packet_hops),
            count(result.packet_hops_per_cpu_s),
            number(result.instructions_per_packet_hop, 3),
            number(result.peak_rss_mb, 3),
            f"{100 * result.goodput_share:.1f} %",
        )
    return table
