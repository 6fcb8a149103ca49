"""Shares of a plan's runs: every run is of one share, and shares need nothing of each other."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathweave
from conftest import Command, write_scenario
from pathweave.errors import InputError
from pathweave.results import layout, owner
from pathweave.results.jsonfile import read_json
from pathweave.running.session import Request, open_session, writing
from pathweave.running.shard import Shard, parse_shard

SLURM = {
    "SLURM_ARRAY_TASK_ID": "7",
    "SLURM_ARRAY_TASK_COUNT": "4",
    "SLURM_ARRAY_TASK_MIN": "5",
    "SLURM_ARRAY_TASK_MAX": "8",
    "SLURM_ARRAY_TASK_STEP": "1",
}


def shards_of(variants: int, seeds: int, count: int) -> dict[tuple[int, int], list[int]]:
    """The shards that have each run."""
    shards = [Shard(index, count) for index in range(1, count + 1)]
    return {
        (variant, seed): [each.index for each in shards if each.has(variant, seed, seeds)]
        for variant in range(variants)
        for seed in range(seeds)
    }


@given(st.integers(1, 24), st.integers(1, 24), st.integers(1, 16))
def test_shards_divide_the_runs_evenly(variants: int, seeds: int, count: int) -> None:
    found = shards_of(variants, seeds, count)
    assert all(len(having) == 1 for having in found.values())
    owners = {run: having[0] for run, having in found.items()}
    everything = [owners]
    everything += [
        {run: index for run, index in owners.items() if run[0] == variant}
        for variant in range(variants)
    ]
    everything += [
        {run: index for run, index in owners.items() if run[1] == seed} for seed in range(seeds)
    ]
    for part in everything:
        numbers = Counter(part.values())
        sizes = [numbers[index] for index in range(1, count + 1)]
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0/4", "there is no shard 0 of 4: they are numbered from 1 to 4"),
        ("5/4", "there is no shard 5 of 4: they are numbered from 1 to 4"),
        ("1/0", "the number of shards must be at least 1, not 0"),
        ("a/b", '--shard takes i/n, such as 1/4, or auto, not "a/b"'),
        ("-1/4", '--shard takes i/n, such as 1/4, or auto, not "-1/4"'),
        ("2", '--shard takes i/n, such as 1/4, or auto, not "2"'),
    ],
)
def test_a_share_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_shard(text)
    assert str(refused.value) == message


def test_the_command_line_refuses_a_share_that_is_none(cli: Command) -> None:
    result = cli("run", "tab1.toml", "--shard", "0/4")
    assert result.returncode == 2
    assert result.stderr == "error: there is no shard 0 of 4: they are numbered from 1 to 4\n"


def test_the_task_of_a_slurm_array_is_a_share() -> None:
    assert parse_shard("auto", SLURM) == Shard(3, 4)
    stepped = SLURM | {"SLURM_ARRAY_TASK_ID": "11", "SLURM_ARRAY_TASK_STEP": "2"}
    assert parse_shard("auto", stepped) == Shard(4, 4)
    without_step = {key: value for key, value in SLURM.items() if not key.endswith("STEP")}
    assert parse_shard("auto", without_step) == Shard(3, 4)


def test_a_parallel_job_of_gitlab_is_a_share() -> None:
    assert parse_shard("auto", {"CI_NODE_INDEX": "2", "CI_NODE_TOTAL": "3"}) == Shard(2, 3)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"SLURM_ARRAY_TASK_ID": "12"}, "task 12 of 4 that begin at 5 in steps of 1"),
        ({"SLURM_ARRAY_TASK_COUNT": "x"}, 'needs SLURM_ARRAY_TASK_COUNT, which is "x"'),
        ({"SLURM_ARRAY_TASK_STEP": "3"}, "task 7 of 4 that begin at 5 in steps of 3"),
    ],
)
def test_an_array_that_gives_no_share_is_refused(changed: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_shard("auto", SLURM | changed)


def test_auto_outside_of_an_array_says_what_to_give() -> None:
    with pytest.raises(InputError, match="give i/n, such as 1/4, elsewhere"):
        parse_shard("auto", {})


def test_shards_into_one_folder_leave_what_one_command_leaves(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    assert cli("run", "tab1.toml", "--seeds", "3", "--out", "one").returncode == 0
    first = cli("run", "tab1.toml", "--seeds", "3", "--shard", "2/2")
    assert first.returncode == 0, first.stderr
    assert first.stderr.startswith("shard 2/2: 6 of 12 runs\n")
    assert first.stdout == (
        "shard 2/2 is complete; 6 of 6 runs of other shards are not in results/tab1/quick yet\n"
    )
    said = read_json(tmp_path / "results/tab1/quick/scenario.json")
    assert said == read_json(tmp_path / "one/tab1/quick/scenario.json")
    last = cli("run", "tab1.toml", "--seeds", "3", "--shard", "1/2")
    assert last.returncode == 0, last.stderr
    assert last.stdout.startswith("shard 1/2 is complete, and so are all others\n")
    assert "Results are in results/tab1/quick" in last.stdout
    assert contents(tmp_path / "results") == contents(tmp_path / "one")
    again = cli("run", "tab1.toml", "--seeds", "3")
    assert again.stderr.startswith("12 of 12 runs are there already\n")


def contents(root: Path) -> dict[str, bytes]:
    """All files but those that say what runs have cost."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != layout.TIMING
    }


def test_a_share_that_begins_again_takes_what_it_had(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    cli("run", "tab1.toml", "--seeds", "3", "--shard", "1/3")
    mine = sorted(path.parent.name for path in (tmp_path / "results").rglob(layout.MANIFEST))
    cli("run", "tab1.toml", "--seeds", "3", "--shard", "3/3")
    again = cli("run", "tab1.toml", "--seeds", "3", "--shard", "1/3", "--json")
    document = json.loads(again.stdout)
    assert sorted(Path(run["folder"]).name for run in document["runs"]) == mine
    assert {run["state"] for run in document["runs"]} == {"present"}
    assert document["shard"] == {
        "index": 1,
        "count": 3,
        "elsewhere": 8,
        "elsewhere_missing": 4,
    }


def test_a_share_without_runs_is_complete(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes='scheme = ["DCTCP", "XMP-4"]')
    result = cli("run", "tab1.toml", "--shard", "5/5")
    assert result.returncode == 0
    assert "shard 5/5: 0 of 2 runs" in result.stderr


def test_until_needs_all_runs(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    result = cli("run", "tab1.toml", "--shard", "1/2", "--until", "2%")
    assert result.returncode == 2
    assert "--until decides on further seeds by the results of all runs" in result.stderr


def test_testbed_has_no_shares(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path)
    result = cli("testbed", "tab1.toml", "--shard", "1/2")
    assert result.returncode == 2
    assert "results of real hosts are of one machine" in result.stderr


def test_a_share_from_python(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    out = tmp_path / "results"
    one = pathweave.run(path, seeds=2, out=out, progress=False, shard=(1, 2))
    two = pathweave.run(path, seeds=2, out=out, progress=False, shard="2/2")
    assert one.runs.height == two.runs.height == 4
    both = pathweave.run(path, seeds=2, out=out, progress=False)
    assert both.runs.height == 8
    with pytest.raises(InputError, match="there is no shard 3 of 2"):
        pathweave.run(path, out=out, progress=False, shard=(3, 2))
    with pytest.raises(InputError, match="--until decides"):
        pathweave.run(path, out=out, progress=False, shard=(1, 2), until="2%")


def test_what_another_machine_is_writing_is_left_alone(fake: None, tmp_path: Path) -> None:
    session = open_session(Request(path=write_scenario(tmp_path), root=tmp_path / "results"))
    folder = session.plan.folder
    folder.mkdir(parents=True)
    elsewhere = folder / f".dctcp-s1.partial-{'0' * 16}-{os.getpid() + 1}"
    dead = folder / ".dctcp-s2.partial-999999999"
    old = folder / f".dctcp-s3.partial-{'0' * 16}-1"
    for each in (elsewhere, dead, old):
        each.mkdir()
    os.utime(old, (0, 0))
    with writing(session):
        pass
    assert [each.exists() for each in (elsewhere, dead, old)] == [True, False, False]


def test_a_process_of_this_machine_owns_what_it_writes(tmp_path: Path) -> None:
    path = tmp_path / "draft"
    path.touch()
    machine, _, process = owner.owner().rpartition("-")
    assert int(process) == os.getpid()
    assert not owner.abandoned(owner.owner(), path)
    assert owner.abandoned(f"{machine}-999999999", path)
    assert not owner.abandoned("somebody's-1", path)


def test_commands_that_write_at_the_same_time_both_say_what_they_ask_for(
    fake: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a lock: the second reads before the first has written, and writes after it."""
    path = write_scenario(tmp_path)
    root = tmp_path / "results"
    one = open_session(Request(path=path, root=root, only=("scheme=DCTCP",)))
    two = open_session(Request(path=path, root=root, only=("scheme=XMP-4",)))
    folder = one.plan.folder
    with writing(one):
        before = (folder / layout.SCENARIO).read_bytes()
        with writing(two):
            pass
        (folder / layout.SCENARIO).write_bytes(before)  # as if `two` had written before `one` did
        with writing(two):
            (folder / layout.SCENARIO).write_bytes(before)
    asked = read_json(folder / layout.SCENARIO)["asked"]
    assert sorted(asked) == [
        "DCTCP, Incast",
        "DCTCP, Permutation",
        "XMP-4, Incast",
        "XMP-4, Permutation",
    ]
