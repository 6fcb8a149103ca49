"""Instructions per packet-hop that are recorded beside the benches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import run_here
from pathweave.bench import recorded
from pathweave.bench.cases import CASES
from pathweave.errors import InputError

TREE = Path(__file__).parent.parent


def everywhere(figure: float) -> dict[str, float]:
    """The same figure for every case."""
    return dict.fromkeys(CASES, figure)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with a figure of 100 for every case."""
    (tmp_path / "benches").mkdir()
    recorded.record(tmp_path, "1.90.0", everywhere(100.0), "the first")
    return tmp_path


def test_a_rise_needs_a_reason(tree: Path) -> None:
    counted = {CASES[0]: 103.1, CASES[1]: 102.9, CASES[2]: 96.0, CASES[3]: 100.0}
    rise, little, gain, same = recorded.compare(tree, "1.90.0", counted)
    assert rise.has_risen
    assert not any(comparison.has_risen for comparison in (little, gain, same))
    assert rise.advice() == (
        "permutation-dctcp: 103.1 instructions per packet-hop, +3.1% against the recorded figure: "
        'give the reason with `pathweave bench --record "REASON"`'
    )
    assert (
        gain.advice()
        == f'{gain.sentence()}: record the gain with `pathweave bench --record "REASON"`'
    )
    assert same.advice() == same.sentence()
    # Someone who has given a reason is not told to give one.
    assert rise.sentence().endswith("+3.1% against the recorded figure")
    recorded.record(tree, "1.90.0", counted, "packets carry a second header")
    assert not any(c.has_risen for c in recorded.compare(tree, "1.90.0", counted))
    assert recorded.read(tree)["1.90.0"][CASES[0]].reason == "packets carry a second header"


def test_another_compiler_only_reports(tree: Path) -> None:
    counted = everywhere(1000.0)
    for comparison in recorded.compare(tree, "1.91.0", counted):
        assert not comparison.has_risen
        assert "none are recorded for this version of rustc" in comparison.sentence()
    recorded.record(tree, "1.91.0", counted, "a new compiler")
    assert set(recorded.read(tree)) == {"1.90.0", "1.91.0"}
    assert recorded.read(tree)["1.90.0"][CASES[0]].per_packet_hop == 100.0


def test_mistakes_are_refused(tree: Path) -> None:
    with pytest.raises(InputError, match="needs a reason"):
        recorded.record(tree, "1.90.0", everywhere(1.0), " ")
    # Nothing is counted for a reason that says nothing.
    code, _, said = run_here("bench", "--record", " ")
    assert code == 2
    assert "needs a reason" in said
    (tree / "benches/instructions.json").write_text('{"1.90.0": {"x": {"per_hop": 3}}}')
    with pytest.raises(InputError, match="not as it was written"):
        recorded.read(tree)


def test_every_case_is_recorded() -> None:
    """The file of this source tree."""
    figures = recorded.read(TREE)
    assert figures
    for cases in figures.values():
        assert set(cases) == set(CASES)
        assert all(figure.reason for figure in cases.values())
    text = (TREE / "benches/instructions.json").read_text()
    assert json.loads(text)


def test_routing_by_fmp_costs_half_as_much_again_at_most() -> None:
    """The two cases have the same flows, and so about as many packet-hops."""
    for compiler, figures in recorded.read(TREE).items():
        ratio = figures["k10-fmp"].per_packet_hop / figures["k10-ecmp"].per_packet_hop
        assert ratio <= 1.5, compiler
