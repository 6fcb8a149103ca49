"""Results of machines without a shared disk, joined: as if one had run all, or not at all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import fake_core
import pathweave
from conftest import Command, write_scenario
from pathweave.core import core
from pathweave.errors import InputError, PathweaveError
from pathweave.merging.merge import carry_out, plan_merge
from pathweave.results import layout
from pathweave.results.jsonfile import read_json, write_json
from pathweave.results.read import search
from pathweave.running.cores import share
from pathweave.running.session import Request, open_session
from pathweave.running.verify import verify


@pytest.fixture
def halves(fake: None, tmp_path: Path) -> tuple[Path, Path, Path]:
    """The results of two shards in folders of their own, and those of one command."""
    path = write_scenario(tmp_path)
    for name, part in (("a", (1, 2)), ("b", (2, 2)), ("one", None)):
        pathweave.run(path, seeds=3, out=tmp_path / name, shard=part, progress=False)
    return tmp_path / "a", tmp_path / "b", tmp_path / "one"


def merge(*sources: Path, into: Path) -> int:
    """Merge; how many runs were copied."""
    return len(list(carry_out(plan_merge(sources, into), lambda: False)))


def contents(root: Path) -> dict[str, bytes]:
    """All files, but for the numbers of seconds."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != layout.TIMING
    }


def runs_in(root: Path) -> list[Path]:
    return sorted(path.parent for path in root.rglob(layout.MANIFEST))


def edit(run: Path, **values: object) -> None:
    """Change a manifest."""
    path = run / layout.MANIFEST
    write_json(path, read_json(path) | values)


def test_merged_shards_are_what_one_command_leaves(
    halves: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    a, b, one = halves
    before = contents(a), contents(b)
    into = tmp_path / "into"
    assert merge(a, b, into=into) == 12
    assert contents(into) == contents(one)
    assert (contents(a), contents(b)) == before
    assert not list(into.rglob(".*"))
    request = Request(path=tmp_path / "tab1.toml", seeds=3, root=into)
    assert not open_session(request).plan.missing


def test_merged_results_are_found_verified_and_compared(
    halves: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    a, b, one = halves
    into = tmp_path / "into"
    merge(b, a, into=into)
    found = search([into])
    assert not found.unusable
    runs = [(run.folder.name, run) for run in found.scenarios[0].runs]
    assert [each.differences for each in verify(runs, share(2), lambda: False)] == [()] * 12
    assert pathweave.compare(one, into).identical


def test_a_second_merge_copies_nothing(halves: tuple[Path, Path, Path], tmp_path: Path) -> None:
    a, b, _ = halves
    into = tmp_path / "into"
    merge(a, into=into)
    plan = plan_merge([a, b], into)
    assert [part.present for part in plan.parts] == [6]
    assert len(plan.copies) == 6
    merge(a, b, into=into)
    assert merge(a, b, into=into) == 0


def test_an_interrupted_merge_leaves_whole_runs_and_goes_on(
    halves: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    a, b, one = halves
    into = tmp_path / "into"
    copied = list(carry_out(plan_merge([a, b], into), lambda: len(runs_in(into)) >= 5))
    assert len(copied) == len(runs_in(into)) == 5
    assert merge(a, b, into=into) == 7
    assert contents(into) == contents(one)


def test_a_merge_that_was_killed_leaves_no_half_run(
    halves: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, one = halves
    into = tmp_path / "into"
    copies = carry_out(plan_merge([a, b], into), lambda: False)
    next(copies)
    with monkeypatch.context() as patch:
        patch.setattr("pathweave.merging.merge.take_place", _die)
        with pytest.raises(SystemExit):
            next(copies)
    assert len(runs_in(into)) == 1
    # As a process that was killed leaves it.
    (next(into.rglob(layout.SCENARIO)).parent / ".dctcp-s9.partial-999999999").mkdir()
    assert merge(a, b, into=into) == 11
    assert contents(into) == contents(one)


def _die(*_: object) -> None:
    raise SystemExit


def test_equal_copies_are_one_run(halves: tuple[Path, Path, Path], tmp_path: Path) -> None:
    a, _, one = halves
    assert merge(a, one, into=tmp_path / "into") == 12


def test_different_results_of_a_run_are_named_and_nothing_is_written(
    halves: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    a, _, one = halves
    there = runs_in(a)[0]
    own = str(read_json(there / layout.MANIFEST)["results_hash"])
    edit(there, results_hash="1234")
    timing = there / layout.TIMING
    write_json(timing, read_json(timing) | {"machine": "node7"})
    with pytest.raises(InputError) as refused:
        plan_merge([a, one], tmp_path / "into")
    lines = str(refused.value).splitlines()
    manifest = read_json(there / layout.MANIFEST)
    label = f"{manifest['variant']['label']}, seed {manifest['seed']}"
    assert lines[0] == f"tab1: {label} has different results in two folders:"
    assert lines[1] == f"  {there}: 1234, by version 0.0.test on node7"
    assert lines[2].startswith(f"  {one}/tab1/quick/{there.name}: {own}, by version 0.0.test on ")
    assert "`pathweave verify` says which folder does not have them" in lines[3]
    assert not (tmp_path / "into").exists()


def test_results_that_differ_from_those_there_are_refused(
    halves: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    a, b, _ = halves
    into = tmp_path / "into"
    merge(a, into=into)
    edit(runs_in(a)[2], results_hash="1234")
    before = contents(into)
    with pytest.raises(InputError, match="has different results in two folders"):
        plan_merge([a, b], into)
    assert contents(into) == before


def test_versions_are_not_mixed(
    halves: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b, _ = halves
    monkeypatch.setattr(fake_core, "VERSION", "0.1.test")
    newer = tmp_path / "newer"
    pathweave.run(tmp_path / "tab1.toml", seeds=3, out=newer, shard=(2, 2), progress=False)
    with pytest.raises(InputError) as refused:
        plan_merge([a, newer], tmp_path / "into")
    assert str(refused.value).startswith(
        f"tab1 has results of several versions: {a} has version 0.0.test; {newer} has version"
        " 0.1.test. Versions of results differ where the same scenario gives other bits: "
    )
    # One after the other they stand beside each other, as runs of two versions do.
    into = tmp_path / "into"
    merge(a, b, into=into)
    merge(newer, into=into)
    assert len(list((into / "tab1").iterdir())) == 2


def test_settings_stand_side_by_side(
    halves: tuple[Path, Path, Path], cli: Command, tmp_path: Path
) -> None:
    a, b, _ = halves
    other = tmp_path / "other"
    pathweave.run(tmp_path / "tab1.toml", out=other, set={"fabric.k": 4}, progress=False)
    result = cli("merge", str(a), str(b), str(other), "--into", "into")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == [
        "into/tab1/quick: 12 runs copied",
        "into/tab1/quick-k=4: 4 runs copied",
        "tab1 was run with different settings, which stand side by side:",
        "  quick / quick-k=4",
        '  set: [] / ["fabric.k=4"]',
    ]


def test_a_damaged_run_is_taken_from_who_has_it_whole(
    halves: tuple[Path, Path, Path], cli: Command, tmp_path: Path
) -> None:
    a, b, one = halves
    damaged = runs_in(a)[0]
    with (damaged / "flows.parquet").open("ab") as file:
        file.write(b"x")
    assert merge(a, b, one, into=tmp_path / "whole") == 12
    result = cli("merge", str(a), str(b), "--into", "part")
    assert result.returncode == 1
    assert result.stdout == "part/tab1/quick: 11 runs copied\n"
    assert result.stderr == (
        f"left out: {damaged}/flows.parquet is damaged: its content is not what the run wrote;"
        " `pathweave run` runs it again\n"
    )


def test_a_manifest_of_another_run_is_left_out(
    halves: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    a, b, _ = halves
    edit(runs_in(a)[0], seed=77)
    plan = plan_merge([a, b], tmp_path / "into")
    assert len(plan.copies) == 11
    assert "is not that of its scenario and seed" in plan.unusable[0].reason


def test_an_optimum_beside_a_run_is_kept(halves: tuple[Path, Path, Path], tmp_path: Path) -> None:
    a, _, one = halves
    twin = runs_in(a)[0]
    first = one / "tab1/quick" / twin.name
    into = tmp_path / "into"
    merge(a, into=into)
    for name in layout.OPTIMUM_TABLES:
        shutil.copy(first / "flows.parquet", first / layout.table_file(name))
    digest = read_json(first / layout.MANIFEST)["tables"]["flows"]["sha256"]
    hash_ = read_json(first / layout.MANIFEST)["results_hash"]
    tables = {name: {"rows": 1, "sha256": digest} for name in layout.OPTIMUM_TABLES}
    about = {"utility": "tcp", "solvers": {}, "worst_residual": 0.0, "tolerance": 1e-6}
    write_json(first / layout.OPTIMUM, {"results_hash": hash_, "tables": tables, **about})
    assert not (into / "tab1/quick" / twin.name / layout.OPTIMUM).exists()
    merge(a, one, into=into)
    assert (into / "tab1/quick" / twin.name / layout.OPTIMUM).is_file()


def test_a_dry_run_writes_nothing(
    halves: tuple[Path, Path, Path], cli: Command, tmp_path: Path
) -> None:
    a, b, _ = halves
    result = cli("merge", str(a), str(b), "--into", "into", "--dry-run")
    assert result.returncode == 0
    assert result.stdout == "into/tab1/quick: 12 runs would be copied\n"
    assert not (tmp_path / "into").exists()


def test_a_source_without_runs_is_named(
    halves: tuple[Path, Path, Path], cli: Command, tmp_path: Path
) -> None:
    a, b, _ = halves
    (tmp_path / "empty").mkdir()
    result = cli("merge", str(a), str(b), "empty", "--into", "into")
    assert result.returncode == 0
    assert result.stderr == "no finished run in empty\n"


def test_sources_and_target_are_apart(halves: tuple[Path, Path, Path], tmp_path: Path) -> None:
    a, b, _ = halves
    with pytest.raises(InputError, match="leave it out of the sources"):
        plan_merge([a, b], a)
    with pytest.raises(InputError, match="are within each other"):
        plan_merge([a, b], b / "tab1")
    with pytest.raises(InputError, match=f"there is no folder {tmp_path / 'c'}"):
        plan_merge([tmp_path / "c"], tmp_path / "into")


def test_a_folder_that_cannot_be_made_is_named(
    halves: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    a, b, _ = halves
    (tmp_path / "file").touch()
    with pytest.raises(PathweaveError, match=r"cannot make the folder .*file/into/tab1/quick"):
        merge(a, b, into=tmp_path / "file/into")


def test_what_was_asked_for_is_joined(halves: tuple[Path, Path, Path], tmp_path: Path) -> None:
    a, _, _ = halves
    more = tmp_path / "more"
    pathweave.run(tmp_path / "tab1.toml", seeds=5, out=more, shard=(1, 2), progress=False)
    into = tmp_path / "into"
    merge(a, more, into=into)
    asked = read_json(into / "tab1/quick" / layout.SCENARIO)["asked"]
    assert asked == {label: [1, 2, 3, 4, 5] for label in asked}
    assert len(asked) == 4


def test_the_hash_of_a_resolved_scenario_is_that_of_its_variant() -> None:
    """With the compiled core: what `merge` and the workers of Dask rely on."""
    papers = Path(__file__).parent.parent / "papers"
    for path in sorted(papers.glob("*/*.toml")):
        if path.name in {"expected.toml", "ledger.toml"}:
            continue
        scenario = core().load(str(path), None, [], [], None)
        for variant in scenario.variants:
            again = core().from_resolved(variant.resolved).variants[0]
            assert again.hash(3) == variant.hash(3), path
            # As merge has it: read from a manifest, whose keys are sorted.
            text = json.dumps(json.loads(variant.resolved), sort_keys=True)
            assert core().hash_of_resolved(text, 3) == variant.hash(3), path
            assert again.settings_hash == variant.settings_hash
            assert json.loads(again.resolved) == json.loads(variant.resolved)
