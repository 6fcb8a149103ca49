"""Progress of runs: bars on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from pathweave.cli.console import say
from pathweave.results.testbed import PlayedOutput
from pathweave.results.units import count, duration, number
from pathweave.running.meter import Meter, Overview

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rich.console import Console, ConsoleOptions, RenderResult

    from pathweave._core import Progress
    from pathweave.results.output import Output
    from pathweave.running.plan import Task

LINE_EVERY_S = 30.0
"""Seconds between two lines about runs under way, where there are no bars."""


class Progressing:
    """Common to both kinds: meters, and a line for each run that ends."""

    def __init__(self, console: Console, total: int, verb: str = "simulated") -> None:
        self.console = console
        self.verb = verb
        self.overview = Overview(total)
        self.meters: dict[Task, Meter] = {}
        self._said: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None

    def restore_terminal(self) -> None:
        """Give the terminal back as it was, before the process is killed."""
        self.console.show_cursor(True)

    def started(self, task: Task) -> None:
        """A run has begun."""
        self.meters[task] = Meter()

    def progress(self, task: Task, progress: Progress) -> None:
        """A run has come further."""
        self.meters[task].update(progress)

    def finished(self, task: Task, output: Output) -> None:
        """A run is done and written."""
        meter = self._settle(task)
        took = f"{duration(meter.elapsed_s)} of wall time"
        if output.packet_hops and output.cpu_s > 0:
            rate = count(output.packet_hops / output.cpu_s)
            took = f"{count(output.packet_hops)} packet-hops, {rate} a CPU second; {took}"
        self._line("done", "green", task.label, took)
        if isinstance(output, PlayedOutput) and output.invalid is not None:
            self._note(f"invalid: {output.invalid}")
        if output.verdict == "stalled":
            self._note("nothing more could happen: some flows have no live path left")
        for note in output.notes:
            # Most of what the testbed has to say is true of all its runs.
            if not (isinstance(output, PlayedOutput) and note in self._said):
                self._note(note)
            self._said.add(note)

    def solved(self, task: Task, notes: Sequence[str]) -> None:
        """The optimum beside a run is written."""
        meter = self._settle(task)
        took = f"{duration(meter.elapsed_s)} of wall time"
        self._line("solved", "green", task.label, took)
        self.noted(notes)

    def noted(self, notes: Sequence[str]) -> None:
        """What a reader must know of what was just finished."""
        for note in notes:
            self._note(note, "dim")

    def failed(self, task: Task, reason: str) -> None:
        """A run ended without results."""
        self._settle(task)
        self._line("failed", "red", task.label, "")
        self._note(reason)

    def cancelled(self, task: Task) -> None:
        """A run was stopped."""
        self._settle(task)
        self._line("stopped", "yellow", task.label, "")

    def left_out(self, task: Task) -> None:  # noqa: ARG002 - there is nothing to say of it
        """A run is not needed after all."""
        self.overview.total -= 1

    def still_running(self, tasks: Sequence[Task]) -> None:
        """Runs do not stop."""
        for task in tasks:
            self._line("waiting", "yellow", task.label, "for this run to stop")
        self._note(
            "a second Ctrl-C or SIGTERM ends the command at once, and finished runs are kept"
        )

    def given_up(self, tasks: Sequence[Task], lines: Sequence[str]) -> None:
        """Runs do not stop, because a controller in a file does not return."""
        files: dict[str, None] = {}
        for task in tasks:
            self._settle(task)
            self._line("stopped", "yellow", task.label, "its controller does not return")
            files |= dict.fromkeys(task.identity.variant.files)
        where = "; ".join(lines) or f"a controller in {', '.join(files)}"
        self._note(f"{where}: has not returned and is given up")

    def tick(self) -> None:
        """All runs have been looked at."""

    def _settle(self, task: Task) -> Meter:
        self.overview.settled += 1
        return self.meters.pop(task)

    def _line(self, word: str, style: str, label: str, rest: str) -> None:
        table = Table.grid(padding=(0, 2), expand=False)
        table.add_column(width=7, no_wrap=True)
        table.add_column(width=28, no_wrap=True, overflow="ellipsis")
        table.add_column(overflow="fold")
        table.add_row(Text(word, style=style), Text(label), Text(rest))
        self.console.print(table)

    def _note(self, note: str, style: str = "yellow") -> None:
        text = Text(note, style=style)
        table = Table.grid(padding=(0, 2))
        table.add_column(width=7)
        table.add_column(overflow="fold")
        table.add_row("", text)
        self.console.print(table)

    def _overall(self) -> str:
        left = self.overview.left_s([meter.fraction for meter in self.meters.values()])
        text = f"{self.overview.settled} of {self.overview.total} runs"
        return text if left is None else f"{text}, about {duration(left)} of wall time left"


class Bars(Progressing):
    """A bar per run under way, redrawn ten times a second."""

    def __init__(self, console: Console, total: int, verb: str = "simulated") -> None:
        super().__init__(console, total, verb)
        self._live = Live(
            self, console=console, refresh_per_second=10, transient=True, redirect_stdout=False,
            redirect_stderr=False,
        )  # fmt: skip

    def __enter__(self) -> Self:
        if self.overview.total:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table of bars; no more rows than the terminal has."""
        table = Table.grid(padding=(0, 1), expand=True)
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis", min_width=16)
        table.add_column(width=12)
        table.add_column(justify="right", width=4)
        table.add_column(justify="right", width=16, no_wrap=True)
        table.add_column(justify="right", width=8, no_wrap=True)
        table.add_column(justify="right", width=9, no_wrap=True)
        dim = "dim"
        table.add_row(
            "",
            "",
            "",
            Text(self.verb, style=dim),
            Text("hops/s", style=dim),
            Text("wall left", style=dim),
        )
        room = max(1, options.size.height - 4)
        for task, meter in list(self.meters.items())[:room]:
            left = meter.left_s
            table.add_row(
                Text(task.label),
                ProgressBar(total=1.0, completed=meter.fraction, width=12),
                f"{meter.fraction:.0%}",
                simulated(meter.time_s, meter.until_s),
                count(meter.hops_per_s),
                "" if left is None else duration(left),
            )
        yield Text(self._overall(), style="bold", no_wrap=True, overflow="ellipsis")
        yield table


class Lines(Progressing):
    """A line when a run begins and ends, and one now and then in between.

    Files and programs read them: nothing is cut or folded to a width.
    """

    def __init__(self, console: Console, total: int, verb: str = "simulated") -> None:
        super().__init__(console, total, verb)
        self._last = time.monotonic()

    def started(self, task: Task) -> None:
        """A run has begun."""
        super().started(task)
        self._line("started", "", task.label, "")

    def tick(self) -> None:
        """Say how things stand, when it has been a while."""
        now = time.monotonic()
        if now - self._last < LINE_EVERY_S:
            return
        self._last = now
        for task, meter in self.meters.items():
            rest = f"{self.verb} {simulated(meter.time_s, meter.until_s)}"
            if meter.left_s is not None:
                rest += f", {duration(meter.left_s)} of wall time left"
            self._line(f"{meter.fraction:.0%}", "", task.label, rest)
        self._line("", "", self._overall(), "")

    def _line(self, word: str, style: str, label: str, rest: str) -> None:  # noqa: ARG002 - plain
        self._print(f"{word:<7}  {label:<28}  {rest}")

    def _note(self, note: str, style: str = "yellow") -> None:  # noqa: ARG002 - plain
        self._print(f"{'':7}  {note}")

    def _print(self, text: str) -> None:
        say(self.console, text.rstrip())


def watch(console: Console, total: int, verb: str = "simulated") -> Progressing:
    """The kind of progress that suits the console; `verb` is what is done to the runs' time."""
    return (Bars if console.is_terminal else Lines)(console, total, verb)


def simulated(time_s: float, until_s: float | None) -> str:
    """Simulated time, and the time at which the run ends where that is known."""
    unit, per = next(
        (name, size)
        for name, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
        if (until_s or time_s) >= size or name == "us"
    )
    done = number(time_s / per, 3)
    return f"{done} of {number(until_s / per, 3)} {unit}" if until_s else f"{done} {unit}"
