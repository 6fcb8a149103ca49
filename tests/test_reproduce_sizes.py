"""`pathweave reproduce --size paper` with the compiled core: recorded, compared and kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import pathweave
from conftest import run_here
from pathweave.reproducing.work import read_papers
from test_reproduce import PROGRAM, README, SCENARIO, reproduce, runs

PAPER_SIZE = """
[sizes.paper]
stop.at = "400 ms"
"""
EXPECTED = """
[about]
title = "A made-up paper"

[tab1]
title = "Two flows"
setup = "A dumbbell of 100 Mbps."
seeds = 2

[[tab1.number]]
name = "total"
says = "both fill the link"
quantity = "goodput"
statistic = "sum"
unit = "Mbps"
values = { DCTCP = 96, Reno = 96 }

[[tab1.number]]
name = "samples"
says = "milliseconds"
check = "queue-samples"
statistic = "count"
values = { Reno = 151 }

[[tab1.order]]
name = "shorter queue"
says = "DCTCP's queue is shorter"
quantity = "queue"
where = { link = "A->B" }
ascending = ["DCTCP", "Reno"]

[tab2]
title = "One of them"
setup = "As Table 1."
scenario = "tab1.toml"
only = ["scheme=DCTCP"]
seeds = 2

[[tab2.shape]]
name = "longest queue"
kind = "reading"
says = "its queue stays below 30 packets"
check = "queue-samples"
statistic = "max"
below = 30

[fig3]
title = "Shares"
setup = "Arithmetic."
program = "fig3.py"

[[fig3.number]]
says = "a third"
unit = "%"
within = 1
axes = ["scheme"]
values = { DCTCP = 33 }
"""
SAID = "consistent in 2 of 3 claims (1 seed); the sizes disagree in 1"
WHY = "its values at the published size are of other settings or of another claim"


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a paper whose rows run at half the published length."""
    folder = tmp_path / "papers/made"
    folder.mkdir(parents=True)
    (folder / "tab1.toml").write_text(SCENARIO + PAPER_SIZE)
    (folder / "expected.toml").write_text(EXPECTED)
    (folder / "fig3.py").write_text(PROGRAM)
    (folder / "README.md").write_text(README)
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.fixture
def both(paper: Path) -> Path:
    """The same, recorded at both sizes."""
    reproduce("--record")
    reproduce("--size", "paper", "--seeds", "1", "--record")
    return paper


def recorded(paper: Path) -> dict[str, Any]:
    return json.loads((paper / "reproduced.json").read_text())


def checks(said: str) -> dict[str, str]:
    """What is said of each row at the published size."""
    found = re.findall(r"^(made/\w+) at the published size: (.*)$", said, re.MULTILINE)
    return dict(found)


def test_values_at_the_published_size_stand_beside_the_quick_ones(
    paper: Path, tmp_path: Path
) -> None:
    said, _ = reproduce("--record")
    assert said.splitlines().count("At the published size: not checked.") == 2
    assert (paper / "README.md").read_text().count("At the published size: not checked.\n") == 2
    said, _ = reproduce("--list")
    assert checks(said) == {"made/tab1": "not checked", "made/tab2": "not checked"}
    quick = recorded(paper)
    assert (quick["format"], quick["paper_size"]) == (2, {})

    said, errors = reproduce("--size", "paper", "--seeds", "1", "--record")
    assert "skipped: 1 row has no other size than the quick one" in errors.splitlines()
    assert checks(said) == {
        "made/tab1": SAID,
        "made/tab2": "consistent in 1 of 1 reading (1 seed)",
    }
    found = recorded(paper)
    assert found["rows"] == quick["rows"]
    assert list(found["paper_size"]) == ["tab1", "tab2"]
    table = found["paper_size"]["tab1"]
    assert table["command"] == "pathweave run papers/made/tab1.toml --size paper --seeds 1"
    assert (table["seeds"], table["size"]) == ([1], "paper")
    # The same from the run itself.
    scenario = paper / "tab1.toml"
    out = tmp_path / "alone"
    results = pathweave.run(scenario, size="paper", seeds=1, out=out, progress=False)
    total = {
        run.axes["scheme"]: float(run.read("flows")["goodput_bps"].sum()) / 1e6
        for run in results.scenarios[0].runs
    }
    assert {
        each["at"]["scheme"]: each["values"]["1"] for each in table["samples"]["total"]
    } == pytest.approx(total)
    (samples,) = table["samples"]["samples"]
    assert samples["values"] == {"1": 351}  # each millisecond from 50 to 400

    # All that shows the quick values shows it: both numbers where they disagree.
    both = "151.0 ± 0 (+0 %); 351.0 at the published size"
    assert (
        f"| milliseconds: **sizes disagree** | Reno | 151 | {both} | sizes disagree |"
        in (paper / "README.md").read_text()
    )
    readme = (paper / "README.md").read_text()
    assert f"At the published size: {SAID}.\n" in readme
    assert (
        "`pathweave reproduce made --size paper --seeds 1 --record` gives those at the published"
        " size: paper size, 1 seed, Pathweave "
    ) in readme
    said, _ = reproduce("--list")
    assert checks(said)["made/tab1"] == SAID
    said, _ = reproduce("made/tab1")
    for line in (
        f"At the published size: {SAID}.",
        "milliseconds: sizes disagree",
        "  Reno: 151.0 ± 0 (published: 151) +0 %; 351.0 at the published size",
        "DCTCP's queue is shorter: agrees in order",
    ):
        assert line in said.splitlines(), line
    page = (tmp_path / "results/papers/made/index.html").read_text()
    assert f"<dd>{SAID}; <code>{table['command']}</code></dd>" in page
    assert "<td>151.0 ± 0; 351.0 at the published size</td>" in page


def test_for_programs(both: Path) -> None:
    said, _ = reproduce("--list", "--json")
    table, _, program = json.loads(said)
    assert table["verdict"] == "agrees in order"  # by the other claims
    assert (table["reduced"], program["reduced"]) == (True, False)
    assert table["at_paper_size"]["seeds"] == [1]
    assert program["at_paper_size"] is None
    claims = {claim["name"]: claim for claim in table["claims"]}
    assert {name: (each["verdict"], each["consistency"]) for name, each in claims.items()} == {
        "total": ("agrees", "consistent"),
        "samples": ("sizes disagree", "disagrees"),
        "shorter queue": ("agrees in order", "consistent"),
    }
    (value,) = claims["samples"]["values"]
    assert (value["ours"], value["at_paper_size"]["ours"]) == (151, 351)


def test_recording_again_changes_nothing(both: Path) -> None:
    records, readme = ((both / name).read_bytes() for name in ("reproduced.json", "README.md"))
    for arguments in (
        ["--record"],
        ["--size", "paper", "--seeds", "1", "--record"],
        ["made/tab2", "--size", "paper", "--seeds", "1", "--record"],
    ):
        _, errors = reproduce(*arguments)
        assert "started" not in errors
        assert "dropped" not in errors
        assert (both / "reproduced.json").read_bytes() == records
        assert (both / "README.md").read_bytes() == readme


def test_a_row_alone_keeps_the_values_of_others(paper: Path, tmp_path: Path) -> None:
    reproduce("made/tab1", "--record")
    reproduce("made/tab1", "--size", "paper", "--seeds", "1", "--record")
    table = recorded(paper)["paper_size"]["tab1"]
    before = runs(tmp_path)
    # It has a seed more, and one of the two is there.
    said, errors = reproduce("made/tab2", "--size", "paper", "--seeds", "2", "--record")
    assert checks(said) == {"made/tab2": "nothing is recorded at the quick size to compare with"}
    assert len(re.findall("^started", errors, re.MULTILINE)) == 1
    assert before.items() <= runs(tmp_path).items()
    found = recorded(paper)["paper_size"]
    assert found["tab1"] == table
    assert found["tab2"]["seeds"] == [1, 2]


def test_values_of_another_set_up_are_dropped(both: Path) -> None:
    """Each claim's own: by its variants and by what it measures."""
    scenario, expected = both / "tab1.toml", both / "expected.toml"
    # A variant that one claim of the first row and the second row do without.
    text = scenario.read_text()
    scenario.write_text(text.replace("k = 20 }", "k = 21 }"))
    said, _ = reproduce("--list")
    assert checks(said)["made/tab2"] == "not checked"
    _, errors = reproduce("--record")
    assert [line for line in errors.splitlines() if line.startswith("dropped")] == [
        f"dropped: made/tab1, shorter queue: {WHY}",
        f"dropped: made/tab1, total: {WHY}",
        f"dropped: made/tab2, longest queue: {WHY}",
    ]
    assert list(recorded(both)["paper_size"]) == ["tab1"]
    assert list(recorded(both)["paper_size"]["tab1"]["samples"]) == ["samples"]
    said, _ = reproduce("--list")
    assert checks(said)["made/tab1"] == (
        "consistent in 0 of 3 claims (1 seed); the sizes disagree in 1; 2 not compared"
    )
    # What the last one measures.
    expected.write_text(EXPECTED.replace('statistic = "count"', 'statistic = "sum"'))
    _, errors = reproduce("--record")
    assert f"dropped: made/tab1, samples: {WHY}" in errors.splitlines()
    assert recorded(both)["paper_size"] == {}


def test_what_does_not_change_values_keeps_them(both: Path) -> None:
    scenario, expected = both / "tab1.toml", both / "expected.toml"
    more = '[variants.scheme."CUBIC"]\n"traffic.flows.controller" = "cubic"\n'
    text = scenario.read_text().replace('title = "Two flows', 'title = "Two')
    scenario.write_text(text.replace("[variants.scheme", f"{more}\n[variants.scheme", 1))
    expected.write_text(EXPECTED.replace("below = 30", "below = 40").replace("= 96", "= 97"))
    _, errors = reproduce("--record")
    assert "dropped" not in errors
    assert list(recorded(both)["paper_size"]) == ["tab1", "tab2"]


def test_without_a_published_size_of_its_own_nothing_is_checked(both: Path) -> None:
    (both / "tab1.toml").write_text(SCENARIO)
    _, errors = reproduce("--record")
    assert errors.count("dropped: made/") == 4
    said, _ = reproduce("--list")
    assert checks(said) == {}
    # One that changes nothing is none.
    (both / "tab1.toml").write_text(f'{SCENARIO}\n[sizes.paper]\nstop.at = "200 ms"\n')
    said, _ = reproduce("--list")
    assert checks(said) == {}
    assert run_here("reproduce", "--size", "paper", "--record") == (
        2,
        "",
        "error: the quick set-up of these rows is the published one\n",
    )


def test_a_size_that_changes_some_variants_is_of_their_claims(paper: Path) -> None:
    size = '[sizes.paper]\n"variants.scheme.Reno.stop.at" = "300 ms"\n'
    (paper / "tab1.toml").write_text(f"{SCENARIO}\n{size}")
    ((_, rows),) = read_papers(paper.parent, [])
    assert {row.name: list(row.paper_setups) for row in rows} == {
        "tab1": ["total", "samples", "shorter queue"],
        "tab2": [],
        "fig3": [],
    }


def test_check_compares_runs_of_one_size(both: Path) -> None:
    said, _ = reproduce("--check")
    assert said.splitlines()[-1] == "Of 7 numbers, 7 are identical."
    said, _ = reproduce("made/tab1", "made/tab2", "--size", "paper", "--seeds", "1", "--check")
    assert said.splitlines()[-1] == "Of 6 numbers, 6 are identical."
    path = both / "reproduced.json"
    content = recorded(both)
    for sample in content["paper_size"]["tab1"]["samples"]["samples"]:
        sample["values"] = {"1": 300, "2": 301}
    path.write_text(json.dumps(content))
    code, said, _ = run_here("reproduce", "made/tab1", "--size", "paper", "--check", "--seeds", "2")
    assert code == 1
    assert "moved: made/tab1, samples, Reno: 300.5 → 351.0" in said
    reproduce("--check")  # the quick ones are what they were
    del content["paper_size"]["tab1"]
    path.write_text(json.dumps(content))
    code, said, _ = run_here("reproduce", "made/tab1", "--size", "paper", "--seeds", "1", "--check")
    assert code == 1
    assert said.splitlines()[-2:] == ["not recorded yet: made/tab1", "Nothing was compared."]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--size", "paper", "--record", "--explain"],
            "error: explanations are recorded at the quick size; leave out --explain\n",
        ),
        (
            ["--size", "large", "--record"],
            "error: --record works at the sizes quick and paper, not at large\n",
        ),
        (
            ["made/fig3", "--size", "paper", "--record"],
            'error: none of these rows has a size "paper"; they have quick\n',
        ),
    ],
)
def test_what_cannot_be_recorded(paper: Path, arguments: list[str], said: str) -> None:
    (paper / "tab1.toml").write_text(f'{SCENARIO}{PAPER_SIZE}[sizes.large]\nstop.at = "1 s"\n')
    assert run_here("reproduce", *arguments) == (2, "", said)
