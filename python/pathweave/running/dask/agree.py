"""Whether all workers would give this machine's results, before any of them begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pathweave.errors import PathweaveError
from pathweave.running.dask.facts import differences, facts
from pathweave.running.dask.payload import Different
from pathweave.running.dask.work import described

if TYPE_CHECKING:
    from collections.abc import Iterable

    from distributed import Client


def check_workers(client: Client) -> None:
    """Compare versions and the results of a probe run of the client and all of its workers.

    Workers that come later are compared when they get their first runs. Raises `PathweaveError`
    with each worker that differs and in what.
    """
    found = cast("dict[str, Any]", client.run(described, on_error="return"))
    different: list[Different] = []
    for address, answer in found.items():
        if isinstance(answer, BaseException):
            raise PathweaveError(_broken(address, answer)) from answer
        machine, theirs = answer
        if theirs != facts():
            different.append(Different(address, machine, theirs))
    if different:
        raise PathweaveError(refusal(different))


def refusal(workers: Iterable[Different]) -> str:
    """What these workers have otherwise, and what to do."""
    lines = [
        f"the worker {each.worker} on {each.machine}: {'; '.join(differences(each.facts, facts()))}"
        for each in workers
    ]
    lines.append("All machines must have the same Pathweave, so that their results are one")
    return "\n".join(lines)


def _broken(address: str, error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError):
        return (
            f"the worker {address} cannot import {error.name}: Pathweave must be installed where"
            " the workers run"
        )
    return f"the worker {address} cannot make the probe run: {error}"
