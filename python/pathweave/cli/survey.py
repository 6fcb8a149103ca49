"""`pathweave survey`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pathweave.cli.exits import FAILED
from pathweave.cli.options import Jobs  # noqa: TC001
from pathweave.results import layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathweave.running.session import Session
    from pathweave.surveying.table import Gathered
    from pathweave.surveying.workloads import Survey, Workload


def survey(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Workloads; all if not given.", metavar="[WORKLOAD...]"),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Seeds of each scheme.", metavar="N", min=1)] = 8,
    problems: Annotated[
        int,
        typer.Option(
            help="Moments of a run that the optimum is solved for; 0 leaves it out.",
            metavar="N",
            min=0,
        ),
    ] = 4,
    record: Annotated[
        bool, typer.Option("--record", help="Write what comes out into the survey and docs.")
    ] = False,
    folder: Annotated[Path, typer.Option(help="Folder of the survey.", metavar="DIR")] = Path(
        "survey"
    ),
    out: Annotated[
        Path, typer.Option(help="Folder for results.", metavar="DIR")
    ] = layout.DEFAULT_ROOT / "survey",
    jobs: Jobs = None,
) -> None:
    """Compare every controller and switch scheme on the same workloads and seeds.

    Differences to the baseline are paired by seed. Runs that are there already are kept.

    Example: pathweave survey permutation --seeds 3
    """
    from pathweave.cli.console import messages, output, say
    from pathweave.surveying.document import workload_text, write_documents
    from pathweave.surveying.table import compare
    from pathweave.surveying.workloads import read_survey

    surveyed = read_survey(folder)
    chosen = _chosen(surveyed, names or [])
    found: list[tuple[Workload, Gathered]] = []
    sessions = _sessions(surveyed, chosen, seeds, out)
    _simulate(chosen, sessions, jobs)
    for workload, session in zip(chosen, sessions, strict=True):
        gathered = _gathered(workload, session, problems)
        found.append((workload, gathered))
        table = compare(surveyed, gathered)
        output().print(workload_text(surveyed, workload, table), markup=False, soft_wrap=True)
    if record:
        for path in write_documents(surveyed, folder, found):
            say(messages(), f"written: {path}")


def _chosen(survey: Survey, names: Sequence[str]) -> list[Workload]:
    """The workloads that were asked for. Raises `InputError` for one that is not there."""
    from pathweave.errors import InputError

    known = {workload.name: workload for workload in survey.workloads}
    for name in names:
        if name not in known:
            raise InputError(f'there is no workload "{name}"; there are {", ".join(known)}')
    return [known[name] for name in names] or list(known.values())


def _sessions(
    survey: Survey, workloads: Sequence[Workload], seeds: int, out: Path
) -> list[Session]:
    from pathweave.running.session import Request, open_session
    from pathweave.surveying.workloads import compose

    return [
        open_session(Request(path=compose(survey, workload, out), seeds=seeds, root=out))
        for workload in workloads
    ]


def _simulate(workloads: Sequence[Workload], sessions: Sequence[Session], jobs: int | None) -> None:
    from pathweave.cli.together import simulate_all

    named = {each.name: [own] for each, own in zip(workloads, sessions, strict=True)}
    simulate_all(named, jobs, "survey", say_time=True)


def _gathered(workload: Workload, session: Session, problems: int) -> Gathered:
    """What the runs of a workload give, the optimum beside them included."""
    from pathweave.cli.outcome import explain
    from pathweave.results.read import find_runs
    from pathweave.running.pool import Outcome
    from pathweave.surveying.table import gather

    tasks = session.plan.tasks
    if problems and workload.has_optimum:
        from pathweave.cli.optimum import solve_beside

        outcome = Outcome(finished=list(session.plan.missing))
        solve_beside(session, outcome, layout.DEFAULT_UTILITY, problems)
        if outcome.failed:
            explain(len(tasks), len(tasks), outcome)
            raise typer.Exit(FAILED)
    return gather(find_runs([task.folder for task in tasks])[0], workload)
