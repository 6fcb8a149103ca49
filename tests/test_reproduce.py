"""`pathweave reproduce` with the compiled core: a made-up paper from its rows to its documents."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from conftest import run_here
from pathweave.errors import InputError
from pathweave.reproducing.documents import BEGIN, END, write_block
from pathweave.reproducing.paper import Number, Order, Row, Shape, read_paper
from pathweave.reproducing.record import read_records

SCENARIO = """
title = "Two flows on a dumbbell"
seed = 1
jitter = "none"

[fabric]
kind = "dumbbell"
left = 2
host_rate = "1 Gbps"
host_delay = "20 us"
bottleneck_rate = "100 Mbps"
bottleneck_delay = "100 us"
queue = { limit = 100 }

[[traffic]]
name = "flows"
pattern = "flows"
size = "unlimited"
controller = "reno"
flows = [
    { name = "Flow 1", from = "S1", to = "D1" },
    { name = "Flow 2", from = "S2", to = "D2", start = "1 ms" },
]

[variants.scheme."Reno"]

[variants.scheme."DCTCP"]
"traffic.flows.controller" = "dctcp"
"fabric.queue.mark" = { kind = "step", k = 20 }

[stop]
at = "200 ms"

[measure]
from = "50 ms"

[record]
queues = "1 ms"
links = ["A->B"]
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
source = "Table 1"
values = { DCTCP = 96, Reno = 96 }

[[tab1.number]]
name = "queue"
quantity = "queue"
where = { link = "A->B" }
axes = ["scheme"]
tolerance = 0.3
values = { DCTCP = 5 }

[[tab1.order]]
name = "shorter queue"
says = "DCTCP's queue is shorter"
quantity = "queue"
where = { link = "A->B" }
ascending = ["DCTCP", "Reno"]

[[tab1.shape]]
name = "longest queue"
says = "DCTCP's queue stays below 30 packets"
check = "queue-samples"
statistic = "max"
at = { scheme = "DCTCP" }
below = 30

[[tab1.because]]
claim = "queue"
reason = "The threshold is a ruling."
set = ['fabric.queue.mark={ kind = "step", k = 5 }']

[fig2]
title = "Queue over time"
setup = "As Table 1."
picture = "the queue | over time"

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
PROGRAM = """
import json
print(json.dumps([{"at": {"scheme": "DCTCP"}, "value": 100 / 3}]))
"""
README = f"""# Made up

Before.

{BEGIN}
What was there.
{END}

After.
"""


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the paper, in a working folder of its own."""
    folder = tmp_path / "papers/made"
    folder.mkdir(parents=True)
    (folder / "tab1.toml").write_text(SCENARIO)
    (folder / "expected.toml").write_text(EXPECTED)
    (folder / "fig3.py").write_text(PROGRAM)
    (folder / "README.md").write_text(README)
    monkeypatch.chdir(tmp_path)
    return folder


def reproduce(*arguments: str) -> tuple[str, str]:
    """What a command that succeeds says on stdout and on stderr."""
    code, said, errors = run_here("reproduce", *arguments)
    assert code in (0, None), errors
    return said, errors


def verdicts(said: str) -> dict[str, str]:
    """The verdict of each row in the table, and why it differs."""
    lines = [line for line in said.splitlines() if line.startswith("made/") and ": " not in line]
    return {(words := " ".join(line.split()).split(" ", 1))[0]: words[1] for line in lines}


def runs(folder: Path) -> dict[str, int]:
    """When each run was written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.glob("results/**/manifest.json")}


def test_from_rows_to_documents(paper: Path, tmp_path: Path) -> None:
    # Before anything was run.
    said, errors = reproduce("--list")
    assert verdicts(said) == {
        "made/tab1": "Two flows not run",
        "made/fig2": "Queue over time picture only",
        "made/fig3": "Shares not run",
    }
    assert not (tmp_path / "results").exists()

    # Run.
    said, errors = reproduce()
    assert verdicts(said)["made/tab1"] == (
        "Two flows differs (3 of 4 claims agree) explanation not run"
    )
    for line in (
        "both fill the link (Table 1): agrees",
        "Mean queue, mean, A->B: differs",
        "DCTCP's queue is shorter: agrees in order",
        "  published: DCTCP < Reno",
        "DCTCP's queue stays below 30 packets: agrees",
        '  Why "queue" differs: The threshold is a ruling. explanation not run',
        "a third: agrees",
        "  DCTCP: 33.33 ± 0 % (published: 33 %) +0.33 points",
    ):
        assert line in said.splitlines(), line
    first = runs(tmp_path)
    assert len(first) == 4  # two variants, two seeds
    assert not (paper / "reproduced.json").exists()
    assert (paper / "README.md").read_text() == README

    # Nothing is run again; --explain runs what is missing, and --record writes.
    said, errors = reproduce("--explain", "--record")
    assert verdicts(said)["made/tab1"].endswith("explained")
    assert "started" in errors
    assert {path: when for path, when in runs(tmp_path).items() if path in first} == first
    assert len(runs(tmp_path)) == 6
    records = (paper / "reproduced.json").read_bytes()
    readme = (paper / "README.md").read_text()

    # The block alone is replaced.
    before, _, rest = readme.partition(BEGIN)
    block, _, after = rest.partition(END)
    assert before == README.partition(BEGIN)[0]
    assert after == README.partition(END)[2]
    assert "What was there." not in block
    assert "| tab1 | Two flows | differs | 3 of 4 claims agree | explained |" in block
    assert "**explained**" in block
    assert "the queue \\| over time" in block or "the queue | over time" in block
    assert "quick size, 2 seeds" in block

    # What was recorded is listed without runs, and comes out again to the byte.
    listed, _ = reproduce("--list")
    assert verdicts(listed) == verdicts(said)
    complete = runs(tmp_path)
    _, errors = reproduce("--explain", "--record")
    assert "started" not in errors
    assert runs(tmp_path) == complete
    assert (paper / "reproduced.json").read_bytes() == records
    assert (paper / "README.md").read_text() == readme

    # The pages name every row.
    index = (tmp_path / "results/papers/index.html").read_text()
    page = (tmp_path / "results/papers/made/index.html").read_text()
    for name, title in (("tab1", "Two flows"), ("fig2", "Queue over time"), ("fig3", "Shares")):
        assert name in index
        assert f'<section id="{name}">' in page
        assert f"{name}: {title}" in page
    assert "The threshold is a ruling." in page
    assert "the queue | over time" in page


def test_a_row_alone_keeps_the_records_of_others(paper: Path) -> None:
    reproduce("made/fig3", "--record")
    assert "quick size, Pathweave" in (paper / "README.md").read_text()  # there are no seeds
    said, _ = reproduce("made/tab1", "--record")
    assert list(verdicts(said)) == ["made/tab1"]
    assert list(read_records(paper / "reproduced.json").rows) == ["fig3", "tab1"]
    assert "quick size, 2 seeds, Pathweave" in (paper / "README.md").read_text()
    # The pages have all rows, run now or recorded.
    page = (paper.parent.parent / "results/papers/made/index.html").read_text()
    assert "Of 3 rows" in page
    reproduce("made/fig3")
    page = (paper.parent.parent / "results/papers/made/index.html").read_text()
    assert "Of 3 rows" in page
    assert "both fill the link" in page


def test_one_seed_decides_nothing(paper: Path) -> None:
    said, _ = reproduce("made/tab1", "--seeds", "1")
    assert "not decided: more seeds" in said


def test_check_says_what_has_moved(paper: Path) -> None:
    reproduce("made/tab1", "made/fig3", "--record")
    said, _ = reproduce("--check")
    assert said.splitlines()[-1] == "Of 7 numbers, 7 are identical."
    path = paper / "reproduced.json"
    content = json.loads(path.read_text())
    for sample in content["rows"]["tab1"]["samples"]["queue"]:
        sample["values"] = {seed: 1.25 * value for seed, value in sample["values"].items()}
    del content["rows"]["tab1"]["samples"]["total"]
    path.write_text(json.dumps(content))
    changed = path.read_bytes()
    code, said, errors = run_here("reproduce", "--check")
    assert code == 1
    assert "Traceback" not in errors
    *_, moved, dctcp, reno, text = said.splitlines()
    assert moved.startswith("moved: made/tab1, queue, DCTCP: 23.6")
    assert moved.endswith(", paired")
    assert dctcp == "not recorded yet: made/tab1, total, DCTCP"
    assert reno == "not recorded yet: made/tab1, total, Reno"
    assert text == "Of 5 numbers, 4 are identical, 1 moved."
    assert path.read_bytes() == changed  # it does not record
    # What has moved can be recorded; then it has not moved any more.
    code, _, _ = run_here("reproduce", "--check", "--record")
    assert code == 1
    reproduce("--check")


def test_rows_for_programs(paper: Path) -> None:
    said, _ = reproduce("--json", "--explain")
    found = {row["row"]: row for row in json.loads(said)}
    assert list(found) == ["made/tab1", "made/fig2", "made/fig3"]
    table = found["made/tab1"]
    assert (table["verdict"], table["why"]) == ("differs", "explained")
    assert table["command"].startswith("pathweave run papers/made/tab1.toml")
    claims = {claim["name"]: claim for claim in table["claims"]}
    assert {name: claim["verdict"] for name, claim in claims.items()} == {
        "total": "agrees",
        "queue": "differs",
        "shorter queue": "agrees in order",
        "longest queue": "agrees",
    }
    (queue,) = claims["queue"]["values"]
    assert (queue["at"], queue["published"], queue["seeds"]) == ({"scheme": "DCTCP"}, 5, 2)
    assert 15 < queue["ours"] < 25
    (reason,) = table["reasons"]
    assert (reason["claim"], reason["outcome"]) == ("queue", "explained")
    assert reason["before"] == [queue["ours"]]
    assert "--set" in reason["command"]
    assert (found["made/fig2"]["verdict"], found["made/fig2"]["command"]) == ("picture only", None)
    assert found["made/fig3"]["claims"][0]["values"][0]["ours"] == pytest.approx(100 / 3)


def test_cpu_time_before_and_after(paper: Path, tmp_path: Path) -> None:
    _, errors = reproduce()
    assert re.search(
        r"^4 runs: about [0-9]+ s of CPU time, [0-9]+ s for the longest$", errors, re.MULTILINE
    ), errors
    times = {
        path.parent: json.loads(path.read_text())["cpu_s"]
        for path in tmp_path.glob("results/**/timing.json")
    }
    longest = max(times, key=lambda folder: times[folder])
    text = r"CPU time of the 4 runs: (\S+) s, (\S+) s \((.*)\) for the longest"
    # Rows that share runs count them once, and what is there already counts.
    for _ in range(2):
        found = re.search(text, errors)
        assert found is not None, errors
        assert float(found[1]) == pytest.approx(math.fsum(times.values()), rel=0.01)
        assert float(found[2]) == pytest.approx(times[longest], rel=0.01)
        scheme = {"reno": "Reno", "dctcp": "DCTCP"}[longest.name.lower().split("-")[0]]
        assert found[3] == f"made/tab1 {scheme}, seed {longest.name[-1]}"
        _, errors = reproduce()
        assert "of CPU time" not in errors
    _, errors = reproduce("made/fig3")
    assert "CPU time" not in errors


def test_a_recorded_number_that_is_gone_does_not_pass(paper: Path) -> None:
    assert run_here("reproduce", "made/fig3", "--check")[0] == 1  # nothing to compare with
    reproduce("--record")
    path = paper / "expected.toml"
    path.write_text(EXPECTED.replace('name = "total"', 'name = "sum"'))
    code, said, _ = run_here("reproduce", "--check")
    assert code == 1
    assert "not compared: made/tab1, total, DCTCP: has no value now" in said
    # Beside JSON it goes where programs do not read.
    code, said, errors = run_here("reproduce", "--check", "--json")
    assert code == 1
    assert len(json.loads(said)) == 3
    assert "not compared" in errors


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--size", "papre"],
            'error: none of these rows has a size "papre"; they have quick\n',
        ),
        (
            ["--list", "--check"],
            "error: --list shows what was recorded; give it without other options but --json\n",
        ),
        (
            ["--record", "--seeds", "3"],
            (
                "error: --record at the quick size uses each row's own number of seeds;"
                " leave out --seeds\n"
            ),
        ),
        (["mad"], 'error: there is no paper "mad" in papers; there are made\n'),
        (["made/tab2"], 'error: made has no row "tab2"; it has tab1, fig2, fig3\n'),
        (
            ["--papers", "nowhere"],
            (
                "error: no paper in nowhere: a paper is a folder with expected.toml."
                " The papers are in Pathweave's source tree; run the command there\n"
            ),
        ),
    ],
)
def test_what_is_not_there(paper: Path, arguments: list[str], said: str) -> None:
    assert run_here("reproduce", *arguments) == (2, "", said)


def test_a_mistake_is_found_before_anything_is_run(paper: Path, tmp_path: Path) -> None:
    path = paper / "expected.toml"
    path.write_text(EXPECTED.replace('ascending = ["DCTCP", "Reno"]', 'ascending = ["Vegas", "x"]'))
    code, said, errors = run_here("reproduce")
    assert (code, said) == (2, "")
    assert " ".join(errors.split()) == (
        "error: papers/made/expected.toml: [tab1]: entry 1 of order:"
        ' axis "scheme" has no "Vegas"; it has Reno, DCTCP'
    )
    assert not (tmp_path / "results").exists()
    path.write_text(EXPECTED)
    records = paper / "reproduced.json"
    records.write_text('{"format": 2, "rows": {"tab1": {}}, "paper_size": {}}')
    code, _, errors = run_here("reproduce", "--list")
    assert code == 2
    assert errors == "error: papers/made/reproduced.json is damaged: KeyError('version')\n"
    records.write_text('{"format": 1, "rows": {}}')
    code, _, errors = run_here("reproduce", "--list")
    assert code == 2
    assert errors == (
        "error: papers/made/reproduced.json was written by another version of Pathweave\n"
    )


def test_a_program_that_fails_is_one_line(paper: Path) -> None:
    (paper / "fig3.py").write_text("raise ValueError('no sizes')")
    code, _, errors = run_here("reproduce", "made/fig3")
    assert code == 1
    assert "papers/made/fig3.py failed: ValueError: no sizes" in " ".join(errors.split())
    assert "Traceback" not in errors


def test_a_block_needs_its_end(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    assert not write_block(readme, "text")
    readme.write_text("# No comments\n")
    assert not write_block(readme, "text")
    assert readme.read_text() == "# No comments\n"
    readme.write_text(f"{END}\n{BEGIN}\n")
    with pytest.raises(InputError, match=r"has no <!-- end --> after it"):
        write_block(readme, "text")


# Rows as they stand in the file.

AXES = {"scheme": ["A", "B"], "load": ["1", "2", "3"]}


def read(folder: Path, text: str) -> tuple[Row, ...]:
    (folder / "r.toml").touch()
    (folder / "expected.toml").write_text(text)
    return read_paper(folder, lambda _: AXES).rows


def test_reads_all_kinds_of_claims(tmp_path: Path) -> None:
    (row,) = read(
        tmp_path,
        """
        [r]
        setup = '''Two
        lines.'''
        only = ["load=1"]
        [[r.number]]
        quantity = "goodput"
        axes = ["scheme"]
        values = { A = 1 }
        [[r.number]]
        quantity = "goodput"
        backends = ["testbed"]
        axes = ["scheme"]
        values = { A = 2 }
        [[r.order]]
        quantity = "goodput"
        says = "s"
        at = { load = "2" }
        ascending = ["B", "A"]
        [[r.shape]]
        quantity = "goodput"
        says = "s"
        at = { scheme = ["A", "B"], load = "1" }
        above = 0
        [[r.shape]]
        quantity = "rtt"
        says = "s"
        trend = "load"
        below = -0.5
        [[r.because]]
        claim = "goodput 2"
        reason = "why"
        size = "small"
        at = { scheme = ["A"] }
        """,
    )
    assert (row.id, row.setup, row.seeds) == (f"{tmp_path.name}/r", "Two lines.", 5)
    assert [claim.name for claim in row.claims] == ["goodput", "goodput 2", "goodput 3", "rtt"]
    number, order, shape, trend = row.claims
    assert isinstance(number, Number)
    assert isinstance(order, Order)
    assert isinstance(shape, Shape)
    assert isinstance(trend, Shape)
    assert (order.levels, order.at) == ((("B",), ("A",)), {"load": "2"})
    assert shape.at == ({"scheme": "A", "load": "1"}, {"scheme": "B", "load": "1"})
    assert (trend.along, trend.above, trend.below) == (("1", "2", "3"), None, -0.5)
    (because,) = row.because
    assert (because.expects, because.only, because.scenario) == ("towards", ("load=1",), "r.toml")


def test_an_explanation_may_be_of_several_claims(tmp_path: Path) -> None:
    (row,) = read(
        tmp_path,
        f"{NUMBER}{ORDER}ascending = ['A', 'B']\n"
        "[[r.because]]\nclaim = ['goodput', 'rtt']\nreason = 'r'\nset = ['a=1']\nseeds = 3\n",
    )
    assert [(each.claim, each.sets, each.seeds) for each in row.because] == [
        ("goodput", ("a=1",), 3),
        ("rtt", ("a=1",), 3),
    ]


NUMBER = "[[r.number]]\nquantity = 'goodput'\naxes = ['scheme']\nvalues = { A = 1 }\n"
ORDER = "[[r.order]]\nquantity = 'rtt'\nsays = 's'\n"
SHAPE = "[[r.shape]]\nquantity = 'rtt'\nsays = 's'\n"
BECAUSE = f"{NUMBER}[[r.because]]\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[r]\ncolour = 1", '[r]: unknown key "colour"'),
        ("[r]\nscenario = 'x.toml'", "[r]: there is no scenario file x.toml"),
        ("[r]\nonly = 'scheme=A'", "[r]: only must be a list"),
        ("[r]\nseeds = 'many'", "[r]: seeds must be a whole number of at least 1, not 'many'"),
        ("[r]\nseeds = 0", "seeds must be a whole number of at least 1, not 0"),
        ("r = 1", "write [r], and its values as [[r.number]]"),
        ("[r.shape]\nabove = 1", "write [[r.shape]], with two brackets"),
        (NUMBER.replace("A = 1", "C = 1"), 'entry 1 of number: axis "scheme" has no "C"'),
        (NUMBER + NUMBER.replace("A = 1", "A = 'x'"), "entry 2 of number: a published value"),
        (f"{ORDER}ascending = ['A']", "entry 1 of order: ascending needs at least two levels"),
        (f"{ORDER}ascending = ['A', ['B', 'C']]", 'axis "scheme" has no "C"; it has A, B'),
        (f"{ORDER}axis = 'speed'\nascending = ['A', 'B']", 'no axis "speed"'),
        (f"{ORDER}ascending = ['A', 'B']\nat = {{ load = ['1', '2'] }}", "one name on each other"),
        (f"{ORDER}ascending = ['A', 'B']\nat = 'load'", "at must be a table of axes and names"),
        (f"{ORDER}ascending = ['A', 'B']\nabove = 1", 'unknown key "above"'),
        (ORDER.replace("says = 's'\n", "") + "ascending = ['A', 'B']", "says is missing"),
        (SHAPE, "entry 1 of shape: a shape needs above, below or both"),
        (f"{SHAPE}above = 'high'", "above must be a number, not 'high'"),
        (f"{SHAPE}above = 1\nat = {{ load = '9' }}", 'axis "load" has no "9"'),
        (f"{SHAPE}above = 1\ntrend = 'scheme'", "a trend needs at least three names"),
        (f"{SHAPE}above = 1\ntrend = 'load'\nalong = ['1', '2', '9']", 'axis "load" has no "9"'),
        (
            f"{NUMBER}name = 'x'\n{SHAPE}above = 1\nname = 'x'",
            "two claims of the row have the name",
        ),
        (f"{BECAUSE}reason = 'why'", "give what is changed: set, scenario or size; or proof"),
        (f"{BECAUSE}reason = 'r'\nset = ['a=1']\nproof = true", "give what is changed: set"),
        (f"{BECAUSE}reason = 'r'\nproof = 'yes'", "proof must be true or false"),
        (f"{ORDER}ascending = ['A', 'B']\nkind = 'guess'", "kind must be one of number, sentence"),
        (f"{BECAUSE}set = ['a=1']", "entry 1 of because: reason is missing"),
        (f"{BECAUSE}claim = 'x'\nreason = 'r'\nset = []", "claim must be one of goodput, not 'x'"),
        (
            f"{BECAUSE}claim = ['goodput', 'x']\nreason = 'r'\nset = []",
            "claim must be one of goodput, not 'x'",
        ),
        (f"{BECAUSE}claim = []\nreason = 'r'\nset = []", "claim lists none"),
        (
            f"{BECAUSE}reason = 'r'\nset = []\nexpects = 'more'",
            "expects must be one of towards, up, down, holds, scatters, fails, not 'more'",
        ),
        (
            f"{BECAUSE}reason = 'r'\nset = []\nat = {{ scheme = 'C' }}",
            'entry 1 of because: axis "scheme" has no "C"; it has A, B',
        ),
        (f"{BECAUSE}reason = 'r'\nset = []\nseeds = -1", "seeds must be a whole number"),
        (
            "[r]\nprogram = 'r.py'\n" + NUMBER + "[[r.because]]\nreason = 'r'\nset = ['a=1']",
            "entry 1 of because: a program has no settings that could be changed",
        ),
        ("[r]\nprogram = 'r.py'\n[[r.number]]\nvalues = { A = 1 }", "entry 1 of number: "),
    ],
)
def test_mistakes_name_file_row_and_entry(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path / 'expected.toml'}: ")
    assert said in str(raised.value)
