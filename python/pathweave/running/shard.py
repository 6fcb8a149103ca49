"""A share of a plan's runs: what one of several machines does without asking the others.

Which run belongs to which share depends on the whole plan alone, not on what is there already, so
that a share that begins late or again takes the same runs.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from pathweave.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTO = "auto"
UNTIL_NEEDS_ALL = (
    "--until decides on further seeds by the results of all runs, and a shard has its own alone:"
    " give --seeds with --shard, or leave --shard out"
)


@dataclass(frozen=True)
class Shard:
    """Share number `index` of `count`, from 1."""

    index: int
    count: int

    def __post_init__(self) -> None:
        if self.count < 1:
            raise InputError(f"the number of shards must be at least 1, not {self.count}")
        if not 1 <= self.index <= self.count:
            raise InputError(
                f"there is no shard {self.index} of {self.count}: they are numbered from 1 to"
                f" {self.count}"
            )

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    def has(self, variant: int, seed: int, seeds: int) -> bool:
        """Whether the run of this variant and seed, places in the plan's order, is in the share.

        Runs are dealt out in turn, variant by variant. Where the number of `seeds` and of shards
        have a common divisor, each shard would always get the same seeds: the turn moves on by one
        whenever the seeds come to the shards that they began with. So the shards' numbers of runs
        differ by one at most, of all runs, of each variant's and of each seed's.
        """
        place = variant * seeds + seed
        period = seeds * self.count // gcd(seeds, self.count)
        return (place + place // period) % self.count == self.index - 1


def parse_shard(text: str, environment: Mapping[str, str] = os.environ) -> Shard:
    """Read "2/4"; "auto" is the task of a Slurm array or of a parallel job of GitLab.

    Raises `InputError` with what is wrong.
    """
    if text.strip() == AUTO:
        return _auto(environment)
    found = re.fullmatch(r"\s*([0-9]+)\s*/\s*([0-9]+)\s*", text)
    if found is None:
        raise InputError(f'--shard takes i/n, such as 1/4, or auto, not "{text}"')
    return Shard(int(found[1]), int(found[2]))


def _auto(environment: Mapping[str, str]) -> Shard:
    if "SLURM_ARRAY_TASK_ID" in environment:
        return _of_slurm(environment)
    if {"CI_NODE_INDEX", "CI_NODE_TOTAL"} <= environment.keys():
        return Shard(_number(environment, "CI_NODE_INDEX"), _number(environment, "CI_NODE_TOTAL"))
    raise InputError(
        "--shard auto is for the tasks of a Slurm array (sbatch --array=1-4), which set"
        " SLURM_ARRAY_TASK_ID, and for parallel jobs of GitLab, which set CI_NODE_INDEX;"
        " give i/n, such as 1/4, elsewhere"
    )


def _of_slurm(environment: Mapping[str, str]) -> Shard:
    task = _number(environment, "SLURM_ARRAY_TASK_ID")
    count = _number(environment, "SLURM_ARRAY_TASK_COUNT")
    first = _number(environment, "SLURM_ARRAY_TASK_MIN")
    step = _number(environment, "SLURM_ARRAY_TASK_STEP", 1)
    index, rest = divmod(task - first, max(1, step))
    if rest or not 0 <= index < count:
        raise InputError(
            f"--shard auto cannot number the tasks of this Slurm array: task {task} of {count}"
            f" that begin at {first} in steps of {step}; give it regular numbers, such as"
            f" --array=1-{count}"
        )
    return Shard(index + 1, count)


def _number(environment: Mapping[str, str], name: str, missing: int | None = None) -> int:
    text = environment.get(name)
    if text is None and missing is not None:
        return missing
    if text is None or not re.fullmatch(r"[0-9]+", text):
        said = "is not set" if text is None else f'is "{text}", not a number'
        raise InputError(f"--shard auto needs {name}, which {said}")
    return int(text)
