"""`pathweave bench --against`: what it shows while it runs, and the table at its end."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Self

from rich import box
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pathweave.bench.against.schedule import Durations
from pathweave.cli.console import messages, output, say
from pathweave.errors import InputError
from pathweave.results.units import count, duration, number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import TracebackType

    from rich.console import Console

    from pathweave.bench.against.cases import Case
    from pathweave.bench.against.compare import Asked, Compared, Side
    from pathweave.bench.against.schedule import Step
    from pathweave.bench.against.simulator import Simulator


def compare_with(
    name: str,
    folder: Path | None,
    cases: Sequence[str],
    until: str,
    turns: int,
    timeout_s: float,
    json: Path | None,
) -> None:
    """Run the cases in both simulators and print how they compare."""
    from pathweave.bench import native
    from pathweave.bench.against.compare import Asked, compare, to_json
    from pathweave.bench.against.program import find
    from pathweave.bench.against.schedule import steps
    from pathweave.bench.against.simulators import simulator as named
    from pathweave.bench.cases import simulated_ns
    from pathweave.results.jsonfile import write_json

    simulator = named(name)
    simulated_ns(until)
    if folder is None:
        raise InputError(
            f"--against {name} needs a folder: the one that `{simulator.build}` builds into "
            f"({simulator.folder})"
        )
    program = find(simulator, folder)
    chosen, left_out = _chosen(simulator, cases)
    console = messages()
    for case, reason in left_out.items():
        say(console, f"{case} is left out: {reason}")
    say(console, f"building {native.BINARY}")
    binary = native.build(native.source_tree())
    asked = Asked(simulator, program.absolute(), binary, chosen, until, turns, timeout_s)
    with watch(console, steps(chosen, simulator.title, turns)) as watching:
        compared = list(compare(asked, watching))
    output().print(_table(asked, compared))
    for line in _notes(asked, left_out):
        output().print(line, markup=False, soft_wrap=True)
    if json is not None:
        write_json(json, to_json(asked, compared, left_out))


def _chosen(simulator: Simulator, names: Sequence[str]) -> tuple[list[Case], dict[str, str]]:
    """The cases to run, and why each of the others that were asked for is not.

    Raises `InputError` for a case that is not there, and when none is left.
    """
    from pathweave.bench.against.cases import CASES, DEFAULT_CASES

    for name in names:
        if name not in CASES:
            raise InputError(f'there is no case "{name}"; there are {", ".join(CASES)}')
    wanted = [CASES[name] for name in dict.fromkeys(names or DEFAULT_CASES)]
    reasons = {case.name: simulator.left_out(case) for case in wanted}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    chosen = [case for case in wanted if case.name not in left_out]
    if not chosen:
        can = [case.name for case in CASES.values() if simulator.left_out(case) is None]
        why = "; ".join(dict.fromkeys(left_out.values()))
        raise InputError(f"{', '.join(left_out)}: {why}; it can run {', '.join(can)}")
    return chosen, left_out


class Watch:
    """How far a comparison is: a line for each run."""

    def __init__(self, console: Console, left: Sequence[Step]) -> None:
        self._console = console
        self._left = list(left)
        self._total = len(left)
        self._durations = Durations()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def begins(self, step: Step) -> None:
        """A run begins."""
        left = self._time_left(0.0)
        rest = f", about {left} of wall time left" if left else ""
        say(self._console, f"{self._number()}: {_doing(step)}{rest}")

    def ended(self, step: Step, seconds: float) -> None:
        """It has ended."""
        self._durations.add(step, seconds)
        self._left.remove(step)

    def restore_terminal(self) -> None:
        """Give the terminal back as it was, before the process is killed."""
        self._console.show_cursor(True)

    def _number(self) -> str:
        return f"run {self._total - len(self._left) + 1} of {self._total}"

    def _time_left(self, elapsed_s: float) -> str:
        """Of all runs that have not ended; nothing as long as it cannot be told."""
        left_s = self._durations.left_s(self._left)
        return "" if left_s is None else duration(max(0.0, left_s - elapsed_s))


class LiveWatch(Watch):
    """The same as a bar that stays where it is, on a terminal."""

    def __init__(self, console: Console, left: Sequence[Step]) -> None:
        super().__init__(console, left)
        self._doing = ""
        self._begun = time.monotonic()
        self._live = Live(
            console=console, get_renderable=self._shown, refresh_per_second=4, transient=True
        )

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def begins(self, step: Step) -> None:
        """A run begins."""
        self._doing = _doing(step)
        self._begun = time.monotonic()

    def _shown(self) -> Table:
        done = self._total - len(self._left)
        left = self._time_left(time.monotonic() - self._begun)
        rest = f", about {left} left" if left else ""
        table = Table.grid(padding=(0, 1))
        table.add_row(
            Text(self._doing),
            ProgressBar(total=max(1, self._total), completed=done, width=12),
            Text(f"{done} of {self._total} runs{rest}"),
        )
        return table


def watch(console: Console, left: Sequence[Step]) -> Watch:
    """The kind that suits the console."""
    return (LiveWatch if console.is_terminal else Watch)(console, left)


def _doing(step: Step) -> str:
    what = "counting hops" if step.turn == 0 else f"turn {step.turn}"
    return f"{step.case.name}, {step.simulator}, {what}"


def _table(asked: Asked, compared: Sequence[Compared]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="dim", show_edge=False)
    table.add_column("", no_wrap=True)
    for head in ("packet-hops", "goodput\nshare", "CPU s", "packet-hops\nper CPU-s", "range"):
        table.add_column(head, justify="right", vertical="bottom", no_wrap=True)
    for each in compared:
        table.add_row(Text(each.case.name, style="bold"))
        table.add_row(f"  {asked.simulator.title}", *_cells(each.other))
        table.add_row("  Pathweave", *_cells(each.pathweave))
        ratios = [number(ratio, 3) for ratio in (median(each.ratios), *_ends(each.ratios))]
        table.add_row("  ratio", "", "", "", ratios[0], f"{ratios[1]} – {ratios[2]}")
    return table


def _cells(side: Side) -> list[str]:
    least, most = _ends(side.rates)
    return [
        count(side.packet_hops),
        f"{100 * side.goodput_share:.1f} %",
        number(median(side.cpu_s), 3),
        count(median(side.rates)),
        f"{count(least)} – {count(most)}",
    ]


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _notes(asked: Asked, left_out: dict[str, str]) -> list[str]:
    turns = f"{asked.turns} runs in turn" if asked.turns > 1 else "one run"
    return [
        "",
        f"{asked.until} of simulated time; medians and ranges of {turns}.",
        "The ratio is Pathweave's packet-hops per CPU-second over the other's, turn by turn.",
        f"Packet-hops: {asked.simulator.counted}.",
        "Pathweave counts packets that arrive at the end of a link.",
        "CPU seconds: setting up is not counted for the other simulator; for Pathweave it is.",
        *(f"{case} is left out: {reason}." for case, reason in left_out.items()),
    ]
