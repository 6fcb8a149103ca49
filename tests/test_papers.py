"""What the papers are said to have published is about scenarios that exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pathweave.core import core
from pathweave.reproducing.sample import measured_of, variants_of
from pathweave.reproducing.work import Wanted, open_ablation, open_row, read_papers

if TYPE_CHECKING:
    from pathweave.reproducing.paper import Row
    from pathweave.running.session import Session

PAPERS = Path(__file__).parent.parent / "papers"
NAMES = sorted(path.parent.name for path in PAPERS.glob("*/expected.toml"))


def rows_of(paper: str) -> list[Row]:
    ((_, rows),) = read_papers(PAPERS, [paper])
    return rows


def names_in(resolved: dict[str, Any]) -> dict[str, set[str]]:
    """What a variant's settings have, by the columns that rows are chosen by."""
    listed = [group for group in resolved["traffic"] if group["pattern"] == "flows"]
    flows = [flow for group in listed for flow in group["flows"]]
    return {
        "group": {"", *(group["name"] for group in resolved["traffic"])},  # "": of all groups
        "name": {flow["name"] for flow in flows},
        "phase": {"", *resolved["measure"]["phases"]},  # "": of the whole run
    }


def hashes(session: Session) -> set[str]:
    """Of the settings of all variants."""
    return {task.identity.variant.settings_hash for task in session.plan.tasks}


@pytest.mark.parametrize("paper", NAMES)
def test_claims_are_about_variants_groups_flows_and_phases_that_exist(paper: str) -> None:
    rows = rows_of(paper)
    assert rows
    for row in rows:
        assert row.setup
        if row.program is not None:
            assert row.program.is_file()
        if row.scenario is None:
            continue
        loaded = core().load(str(row.scenario), None, [], list(row.only), None)
        known: dict[str, set[str]] = {}
        for variant in loaded.variants:
            for column, names in names_in(json.loads(variant.resolved)).items():
                known.setdefault(column, set()).update(names)
        variants = [variant.axes.items() for variant in loaded.variants]
        for claim in row.claims:
            measured = measured_of(claim)
            asked = variants_of(claim)
            assert asked
            for at in [*asked, *({**at, **measured.relative_to} for at in asked)]:
                assert any(at.items() <= each for each in variants), (row.id, claim.name, at)
            chosen = [*measured.where.items(), *measured.over.items()]
            chosen += [("phase", measured.during)] if measured.during else []
            for column, value in chosen:
                names = set(value) if isinstance(value, list) else {value}
                assert names <= known.get(column, names), (row.id, claim.name, column)


@pytest.mark.parametrize("paper", NAMES)
def test_explanations_change_what_there_is(paper: str, tmp_path: Path) -> None:
    wanted = Wanted(root=tmp_path)
    for row in rows_of(paper):
        for because in row.because:
            if because.proof:
                continue
            changed = open_ablation(row, because, wanted)
            own = open_row(row, wanted)
            assert own is not None
            assert hashes(changed) - hashes(own), (row.id, because.claim)


def groups_of(scenario: str) -> list[dict[str, Any]]:
    """The groups of all variants of a scenario."""
    loaded = core().load(str(PAPERS / scenario), None, [], [], None)
    return [
        group for variant in loaded.variants for group in json.loads(variant.resolved)["traffic"]
    ]


@pytest.mark.parametrize("scenario", sorted(path.stem for path in PAPERS.glob("amp/fig*.toml")))
def test_dctcp_and_dcm_of_the_amp_paper_start_with_an_alpha_of_zero(scenario: str) -> None:
    controllers = [group["controller"] for group in groups_of(f"amp/{scenario}.toml")]
    alphas = [one["alpha"] for one in controllers if one["name"] in ("dctcp", "dcm")]
    assert set(alphas) <= {0.0}


@pytest.mark.parametrize(
    ("scenario", "group", "sizes"),
    [
        ("fig2", "incast", {"size": {"kind": "fixed", "bytes": "128 KiB"}}),
        ("fig8", "incast", {"size": {"kind": "fixed", "bytes": "128 KiB"}}),
        ("fig12", "jobs", {"request": "2048 B", "response": "65536 B"}),
    ],
)
def test_sizes_of_the_amp_paper_are_powers_of_two(
    scenario: str, group: str, sizes: dict[str, Any]
) -> None:
    for found in groups_of(f"amp/{scenario}.toml"):
        if found["name"] == group:
            assert {key: found[key] for key in sizes} == sizes


@pytest.mark.parametrize(
    ("scenario", "hosts", "published"),
    [("fig1", [(0, 4)], 225e-6), ("fig7", [(i, i + 5) for i in range(5)], 350e-6)],
)
def test_every_path_of_the_xmp_paper_has_the_published_base_rtt(
    scenario: str, hosts: list[tuple[int, int]], published: float
) -> None:
    """Figure 7 says so of each path, also where a flow's two subflows cross two bottlenecks."""
    loaded = core().load(str(PAPERS / f"xmp/{scenario}.toml"), None, [], [], None)
    found = loaded.variants[0].candidates(1, hosts)
    rtts = [rtt for paths in found for rtt, _ in paths]
    assert len(rtts) == (1 if scenario == "fig1" else 10)
    assert rtts == pytest.approx([published] * len(rtts), abs=0.3e-6)
