"""One row of each paper, run again: it gives the recorded bits.

`make reproduce` runs all rows.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pathweave.cli.app import call
from pathweave.reproducing.documents import BEGIN, END, counts_text, paper_text, recorded
from pathweave.reproducing.record import FILE, read_records
from pathweave.reproducing.work import Wanted, open_row, read_papers

if TYPE_CHECKING:
    from pathweave.reproducing.paper import Paper

ROOT = Path(__file__).parent.parent
PAPERS = ROOT / "papers"
SHORT = ("xmp/fig6", "amp/fig10", "decn/fig8bc", "eutcp/fig6", "fmptcp/fig13")
"""Rows that take some seconds."""


@pytest.mark.parametrize("row", SHORT)
def test_a_row_of_each_paper_gives_what_was_recorded(
    row: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--papers", str(PAPERS), "--out", str(tmp_path), "--jobs", "1", "--check"]
    assert not call(["reproduce", row, *arguments])
    said = capsys.readouterr().out
    found = re.search(r"Of (\d+) numbers, (\d+) are identical\.", said)
    assert found is not None, said
    assert found[1] == found[2] != "0"


@pytest.mark.parametrize("paper", [paper for paper, _ in read_papers(PAPERS, [])])
def test_every_claim_of_every_row_is_recorded(paper: Paper, tmp_path: Path) -> None:
    """Of the scenarios as they stand, with all explanations that have something to explain."""
    for found in recorded(paper):
        row = found.row
        assert row.claims or row.picture, row.id
        if not row.claims:
            continue
        assert found.record is not None, row.id
        assert set(found.record.samples) == {claim.name for claim in row.claims}, row.id
        asked = [reason.because for reason in found.reasons if reason.after]
        assert [because for because in found.to_explain() if because not in asked] == [], row.id
        session = open_row(row, Wanted(root=tmp_path))
        if session is not None:
            assert found.record.settings == session.plan.settings.hash, row.id
            assert len(found.record.seeds) >= 5, row.id


@pytest.mark.parametrize("paper", [paper for paper, _ in read_papers(PAPERS, [])])
def test_values_at_the_published_size_are_of_the_scenarios_as_they_stand(paper: Paper) -> None:
    """Those of rows that have any; `--size paper --record` writes them."""
    records = read_records(paper.folder / FILE).paper_size
    rows = {row.name: row for row in paper.rows}
    for name, record in records.items():
        assert record.setups == rows[name].paper_setups != {}, name
        assert set(record.samples) == set(record.setups), name


def test_readmes_show_what_is_recorded() -> None:
    papers = [paper for paper, _ in read_papers(PAPERS, [])]
    shown = {paper.folder / "README.md": paper_text(paper) for paper in papers}
    shown[ROOT / "README.md"] = counts_text([recorded(paper) for paper in papers])
    for path, text in shown.items():
        content = path.read_text(encoding="utf-8")
        between = content.partition(BEGIN)[2].partition(END)[0]
        assert between.strip() == text.strip(), path
