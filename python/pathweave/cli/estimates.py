"""What runs will take: `run --dry-run`, and a line before runs that take long."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pathweave.cli.console import messages, output, print_json, say
from pathweave.estimating.estimate import available_bytes, estimates, foresee, wall_s
from pathweave.results.units import count, duration, size_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.estimating.estimate import Estimate
    from pathweave.running.cores import Cores
    from pathweave.running.session import Session

LONG_S = 60.0
"""Wall time (s) from which runs are long enough for a line before them."""
_TRIAL_S = 0.15


def say_if_long(session: Session, cores: Cores, *, until: bool) -> None:
    """Say how long the missing runs take, if that is long, and whether memory is short.

    `until` says that these are the most seeds that may be needed.
    """
    say_if_long_together([session], cores, until=until)


def say_if_long_together(
    sessions: Sequence[Session],
    cores: Cores,
    *,
    until: bool = False,
    always: bool = False,
    cpu: bool = False,
) -> None:
    """The same of all missing runs of several sessions; `always` says it of short ones, too.

    With `cpu` their CPU time is said, too, of as many as it is known of.
    """
    found = [each for session in sessions if (each := foresee(session, _TRIAL_S)) is not None]
    if not found:
        return
    wall = wall_s(found, cores)
    runs = sum(each.runs for each in found)
    memory = max(each.memory_bytes for each in found)
    at_once = min(cores.jobs, runs)
    if (always or wall >= LONG_S) and wall < math.inf:
        each = f", each {size_text(memory)}" if at_once > 1 else ""
        most = "at most " if until else ""
        say(
            messages(),
            f"{most}{_runs(runs)}: {_about(wall)} of wall time, {at_once} at a time{each}",
        )
    if cpu:
        _say_cpu_time(found)
    _warn_of_memory(memory * at_once, at_once)


def _say_cpu_time(found: Sequence[Estimate]) -> None:
    known = [each for each in found if each.cpu_s < math.inf]
    if not known:
        return
    runs = sum(each.runs for each in known)
    total = sum(each.runs * each.cpu_s for each in known)
    longest = max(each.cpu_s for each in known)
    text = f"{_runs(runs)}: about {_seconds(total)} of CPU time"
    say(messages(), f"{text}, {_seconds(longest)} for the longest" if runs > 1 else text)


def _seconds(value: float) -> str:
    return f"{value:,.0f} s" if value >= 1 else "1 s"


def print_estimates(session: Session, cores: Cores, *, until: bool, json: bool) -> None:
    """Print what the missing runs take, for people or as JSON."""
    if json:
        print_json(document(session, cores))
    else:
        show(session, cores, until=until)


def show(session: Session, cores: Cores, *, until: bool) -> None:
    """Print what the missing runs of each variant take, and all of them together.

    `until` says that these are the most seeds that may be needed.
    """
    from rich.table import Table

    found = _tried(session)
    present = len(session.plan.present)
    if present:
        say(output(), f"{present} of {len(session.plan.tasks)} runs are there already")
    if not found:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("variant")
    for head in ("runs", "packet-hops", "CPU time", "memory"):
        table.add_column(head, justify="right")
    for each in found:
        table.add_row(
            each.label or session.plan.scenario.name,
            str(each.runs),
            _whole(each.packet_hops, count),
            _whole(each.cpu_s, duration),
            size_text(each.memory_bytes),
        )
    output().print(table)
    runs = sum(each.runs for each in found)
    largest = max(each.memory_bytes for each in found)
    at_once = min(cores.jobs, runs)
    say(
        output(),
        "Packet-hops, CPU time and memory are of one run, judged by its traffic and its first"
        " moments.",
    )
    say(
        output(),
        f"{_runs(runs)}: {_about(wall_s(found, cores))} of wall time, {at_once} at a time,"
        f" with {size_text(at_once * largest)} of memory. Nothing was written.",
    )
    if until:
        say(output(), "That is the most that --until may take; it can be sure after 8 seeds.")
    if session.request.beside:
        say(output(), "The optimum comes on top of that.")
    _warn_of_memory(at_once * largest, at_once)


def document(session: Session, cores: Cores) -> dict[str, Any]:
    """The same for programs: seconds, bytes; what is not known is null."""
    found = _tried(session)
    return {
        "scenario": session.plan.scenario.name,
        "folder": str(session.plan.folder),
        "present": len(session.plan.present),
        "missing": len(session.plan.missing),
        "jobs": cores.jobs,
        "threads": cores.threads_of(max(1, sum(each.runs for each in found))),
        "wall_s": wall_s(found, cores),
        "estimates": [
            {
                "variant": each.label,
                "runs": each.runs,
                "cpu_s": each.cpu_s,
                "packet_hops": each.packet_hops,
                "memory_bytes": each.memory_bytes,
            }
            for each in found
        ],
    }


def _tried(session: Session) -> list[Estimate]:
    from rich.text import Text

    console = messages()
    if not console.is_terminal:
        return estimates(session)
    with console.status("trying the first moments") as status:
        return estimates(
            session, watch=lambda label: status.update(Text(f"trying the first moments of {label}"))
        )


def _warn_of_memory(needed: float, at_once: int) -> None:
    free = available_bytes()
    if needed > free:
        instead = "; --jobs 1 takes less" if at_once > 1 else ""
        text = f"{size_text(needed)} of memory, and {size_text(free)} are free{instead}"
        say(messages(), f"warning: the runs need about {text}")


def _runs(number: int) -> str:
    return f"{number} {'run' if number == 1 else 'runs'}"


def _about(seconds: float) -> str:
    if seconds < 1:
        return "less than a second"
    return f"about {duration(seconds)}" if math.isfinite(seconds) else "an unknown time"


def _whole(value: float, text: Any) -> str:
    return text(value) if math.isfinite(value) else "unknown"
