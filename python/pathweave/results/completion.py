"""Completion times of all that was started: what finished, and what did not, at its age."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from pathweave.results.runs import StoredRun
    from pathweave.statistics.survival import Percentile

FEW_UNFINISHED = 0.01
"""Share of unfinished flows up to which a mean over the finished ones is a mean of all."""


@dataclass(frozen=True)
class Completion:
    """Completion times of flows, jobs or recoveries; or slowdowns, which have no unit."""

    times: tuple[float, ...]
    """Of those that finished (s)."""
    ages: tuple[float, ...]
    """Of the others: how long they had been under way (s)."""

    @property
    def unfinished(self) -> float:
        """Share of those that did not finish; 0 where nothing was started."""
        started = len(self.times) + len(self.ages)
        return len(self.ages) / started if started else 0.0

    def percentile(self, percent: float) -> Percentile | None:
        """A percentile (s) over all that was started, or its lower bound; None without any."""
        from pathweave.statistics.survival import bounds  # numpy takes longer than a short run

        return bounds(self.times, self.ages).percentile(percent)

    def columns(self, name: str, percents: Sequence[int]) -> dict[str, Any]:
        """Percentiles for a table: `<name>_p50_s`, and `<name>_p50_at_least` for bounds."""
        found = {percent: self.percentile(percent) for percent in percents}
        values = {
            f"{name}_p{percent}_s": None if value is None else value.value
            for percent, value in found.items()
        }
        return values | {
            f"{name}_p{percent}_at_least": value is not None and value.at_least
            for percent, value in found.items()
        }


def together(parts: Sequence[Completion]) -> Completion:
    """Those of several runs as one."""
    return Completion(
        tuple(time for part in parts for time in part.times),
        tuple(age for part in parts for age in part.ages),
    )


def flow_completion(run: StoredRun, flows: pl.DataFrame) -> Completion:
    """Of these rows of the run's flows; those without a size have no completion time."""
    sized = flows.filter(has_size())
    done = sized.filter(has_finished())["fct_s"].drop_nulls()
    return Completion(tuple(done), _ages(run, sized.filter(~has_finished())))


def slowdown_completion(run: StoredRun, slowdowns: pl.DataFrame) -> Completion:
    """Of these rows of the run's slowdowns (no unit); unfinished flows count with their age."""
    import polars as pl

    done = slowdowns.filter(has_finished())["slowdown"].drop_nulls()
    waiting = slowdowns.filter(~has_finished())
    ages = waiting.select(age(pl.lit(run.ended_s)) / pl.col("fct_ideal_s")).to_series()
    return Completion(tuple(done), tuple(ages))


def job_completion(run: StoredRun, jobs: pl.DataFrame) -> Completion:
    """Of these rows of the run's jobs."""
    import polars as pl

    done = jobs.filter(pl.col("finished"))["jct_s"].drop_nulls()
    return Completion(tuple(done), _ages(run, jobs.filter(~pl.col("finished"))))


def collective_completion(run: StoredRun, collectives: pl.DataFrame) -> Completion:
    """Of these rows of the run's collective operations, from the first transfer on."""
    import polars as pl

    done = collectives.filter(pl.col("finished"))["collective_s"].drop_nulls()
    return Completion(tuple(done), _ages(run, collectives.filter(~pl.col("finished"))))


def iteration_completion(run: StoredRun, collectives: pl.DataFrame) -> Completion:
    """Of these rows of the run's collective operations, computing included."""
    import polars as pl

    done = collectives["iteration_s"].drop_nulls()
    waiting = collectives.filter(pl.col("iteration_s").is_null())["began_s"]
    return Completion(tuple(done), tuple(max(0.0, run.ended_s - began) for began in waiting))


def recovery_completion(run: StoredRun, recoveries: pl.DataFrame) -> Completion:
    """Of these rows of the run's recoveries: one that did not come is as old as the run's end."""
    import polars as pl

    done = recoveries["recovery_s"].drop_nulls()
    waiting = recoveries.filter(pl.col("recovery_s").is_null())["at_s"]
    return Completion(tuple(done), tuple(max(0.0, run.ended_s - at) for at in waiting))


def convergence_completion(run: StoredRun, convergence: pl.DataFrame) -> Completion:
    """Of these rows of the run's times to fair share: what never came is as old as the run's end.

    The next flow may start before that; then the share was not fair for at least so long.
    """
    return _since_start(run, convergence, "time_to_fair_share_s")


def share_completion(run: StoredRun, settling: pl.DataFrame) -> Completion:
    """Of these rows of the times that single flows take to their fair share."""
    return _since_start(run, settling, "settling_s")


COMPLETIONS = {
    "fct": flow_completion,
    "slowdown": slowdown_completion,
    "jct": job_completion,
    "collective_time": collective_completion,
    "iteration_time": iteration_completion,
    "time_to_fair_share": convergence_completion,
    "share-settling": share_completion,
    "recovery": recovery_completion,
}
"""By quantity or check: times that flows, jobs or recoveries only have once they are done."""


def has_finished() -> pl.Expr:
    """Whether all of a flow's size was delivered: neither a stop nor the run's end cut it off."""
    import polars as pl

    return pl.col("end") == "finished"


def has_size() -> pl.Expr:
    """Whether a flow has a size; flows that send until they are stopped have 0 or null."""
    import polars as pl

    return pl.col("size_bytes").fill_null(0) > 0


def age(run_end_s: pl.Expr) -> pl.Expr:
    """How long a flow or job that did not finish had been under way when it or its run ended (s).

    `run_end_s` is when the run ended.
    """
    import polars as pl

    end = pl.coalesce("end_s", run_end_s)
    return (end - pl.col("start_s")).clip(lower_bound=0.0)


def _ages(run: StoredRun, rows: pl.DataFrame) -> tuple[float, ...]:
    import polars as pl

    return tuple(rows.select(age(pl.lit(run.ended_s))).to_series())


def _since_start(run: StoredRun, rows: pl.DataFrame, column: str) -> Completion:
    """Times since flows started; what never came is as old as the run's end."""
    import polars as pl

    done = rows[column].drop_nulls()
    waiting = rows.filter(pl.col(column).is_null())["start_s"]
    return Completion(tuple(done), tuple(max(0.0, run.ended_s - start) for start in waiting))
