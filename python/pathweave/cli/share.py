"""What a command with `--shard` says of its share and of what is left for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pathweave.cli.console import messages, output, say

if TYPE_CHECKING:
    from pathlib import Path

    from pathweave.running.pool import Outcome
    from pathweave.running.session import Session


def say_share(session: Session) -> None:
    """Say before the runs which of them are of this shard."""
    plan = session.plan
    there = f", {len(plan.present)} of them there already" if plan.present else ""
    say(
        messages(),
        f"shard {session.request.shard}: {len(plan.tasks)} of"
        f" {len(plan.tasks) + len(plan.elsewhere)} runs{there}",
    )


def whole_at_last(session: Session, outcome: Outcome) -> list[Path]:
    """Say after the runs what the other shards have left.

    The folders of all runs, where none is missing any more; else nothing.
    """
    from pathweave.running.plan import not_written

    if outcome.cancelled or outcome.failed:
        return []
    plan = session.plan
    left = len(not_written(plan.elsewhere))
    if not left:
        say(output(), f"shard {session.request.shard} is complete, and so are all others")
        return [task.folder for task in (*plan.tasks, *plan.elsewhere)]
    say(
        output(),
        f"shard {session.request.shard} is complete; {left} of {len(plan.elsewhere)} runs of other"
        f" shards are not in {plan.folder} yet",
    )
    return []
