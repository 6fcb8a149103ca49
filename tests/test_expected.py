"""Published values beside ours."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathweave
from conftest import write_scenario
from pathweave.errors import InputError
from pathweave.results.expected import Expected, read_expected
from pathweave.results.quantities import parse_statistic

AXES = {"scheme": ["DCTCP", "XMP-4"], "pattern": ["Permutation", "Incast"]}
GOOD = """
[[tab1.number]]
quantity = "goodput"
where = { group = "large" }
unit = "Mbps"
tolerance = 0.1
source = "Table 1"
axes = ["scheme", "pattern"]
[tab1.number.values]
"XMP-4" = { Permutation = 735.6, Incast = 535.7 }
DCTCP.Permutation = 513.6

[[tab1.number]]
quantity = "jct"
statistic = "over 300 ms"
unit = "%"
axes = ["scheme"]
values = { DCTCP = 0.1 }
"""


def read(folder: Path, text: str) -> tuple[Expected, ...]:
    (folder / "expected.toml").write_text(text)
    return read_expected(folder, "tab1", AXES)


def test_reads_nested_values(tmp_path: Path) -> None:
    goodput, jobs = read(tmp_path, GOOD)
    assert goodput.title == "Goodput, mean, large, Mbps (Table 1)"
    assert [(dict(point.at), point.value) for point in goodput.points] == [
        ({"scheme": "XMP-4", "pattern": "Permutation"}, 735.6),
        ({"scheme": "XMP-4", "pattern": "Incast"}, 535.7),
        ({"scheme": "DCTCP", "pattern": "Permutation"}, 513.6),
    ]
    assert jobs.tolerance is None
    assert Expected.from_json(goodput.to_json()) == goodput


def test_values_are_of_simulations_unless_they_say_otherwise(tmp_path: Path) -> None:
    text = "".join(
        f"[[tab1.number]]\nquantity = 'goodput'\nvalue = {value}\n{line}\n"
        for value, line in (
            (1, ""),
            (2, "backends = ['testbed']"),
            (3, "backends = ['simulate', 'testbed']"),
        )
    )
    (tmp_path / "expected.toml").write_text(text)
    for backend, values in (("simulate", [1, 3]), ("testbed", [2, 3])):
        found = read_expected(tmp_path, "tab1", AXES, backend)
        assert [point.value for entry in found for point in entry.points] == values


def test_no_file_and_other_scenarios_are_fine(tmp_path: Path) -> None:
    assert read_expected(tmp_path, "tab1", AXES) == ()
    assert read(tmp_path, "[[fig9.number]]\nquantity = 'goodput'\nvalue = 1\n") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tab1.number]\nvalue = 1", "write [[tab1.number]], with two brackets"),
        ("[tab1]\norder = 1", "write [[tab1.order]], with two brackets"),
        ("[[tab1]]\nvalue = 1", "write [tab1], and its values as [[tab1.number]]"),
        ("[[tab1.number]]\nquantity = 'speed'\nvalue = 1", "quantity must be one of"),
        ("[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nunits = 'ms'", 'unknown key "units"'),
        ("[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nunit = 'mss'", 'unknown unit "mss"'),
        ("[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nstatistic = 'p100'", "unknown statistic"),
        ("[[tab1.number]]\nquantity = 'jct'", "either value or values"),
        (
            "[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nbackends = ['lab']",
            "one of simulate, testbed",
        ),
        (
            "[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nbackends = 'testbed'",
            "a list of backends",
        ),
        ("[[tab1.number]]\nquantity = 'jct'\nvalue = 'much'", "must be a number"),
        ("[[tab1.number]]\nquantity = 'jct'\nvalue = 1\ntolerance = -1", "positive number"),
        ("[[tab1.number]]\nquantity = 'jct'\naxes = ['load']\nvalues = {}", 'no axis "load"'),
        (
            "[[tab1.number]]\nquantity = 'jct'\naxes = ['scheme']\nvalues = { Vegas = 1 }",
            'has no "Vegas"',
        ),
        ("[[tab1.number]]\nquantity = 'jct'\nvalues = { DCTCP = 1 }", 'nested by "pattern"'),
        ("[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nrelative_to = 'DCTCP'", "must be a table"),
        (
            "[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nrelative_to = { load = 'x' }",
            'no axis "load"',
        ),
        (
            "[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nrelative_to = { scheme = 'LIA' }",
            'has no "LIA"',
        ),
        (
            "[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nunit = 's'\nrelative_to.scheme='DCTCP'",
            'not "s"',
        ),
        (
            "[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nunit = 'ms'\nover.group = 'large'",
            'not "ms"',
        ),
        ("[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nover = 'large'", "must be a table"),
        ("[[tab1.number]]\nvalue = 1", "either quantity or check"),
        (
            "[[tab1.number]]\nquantity = 'jct'\ncheck = 'second-jump'\nvalue = 1",
            "either quantity or check",
        ),
        ("[[tab1.number]]\ncheck = 'kinks'\nvalue = 1", "check must be one of"),
        ("[[tab1.number]]\nquantity = 'jct'\nvalue = 1\nwithin = 0", "positive number"),
        ("[[tab1.number]]\nquantity = 'jct'\nvalue = 0\ntolerance = 0.1", "0 needs within"),
        ("[[tab1", "expected.toml"),
    ],
)
def test_mistakes_name_the_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"expected\.toml") as raised:
        read(tmp_path, text)
    assert said in str(raised.value)


def test_rows_may_share_a_scenario(tmp_path: Path) -> None:
    """A row's scenario is its own name's, unless it names another."""
    text = "[tab1]\ntitle = 'A'\n[[tab1.number]]\nquantity = 'goodput'\nvalue = 1\n"
    text += "[fig8]\nscenario = 'tab1.toml'\n[[fig8.number]]\nquantity = 'jct'\nvalue = 2\n"
    text += "[fig9]\nscenario = 'fig8.toml'\n[[fig9.number]]\nquantity = 'jct'\nvalue = 3\n"
    found = read(tmp_path, text)
    assert [point.value for entry in found for point in entry.points] == [1, 2]


def test_ours_is_beside_the_published_value(fake: None, tmp_path: Path) -> None:
    (tmp_path / "expected.toml").write_text(GOOD)
    path = write_scenario(tmp_path, fake="flows = 100\njobs = 200")
    results = pathweave.run(path, seeds=2, out=tmp_path / "out", progress=False)
    rows = results.published()
    assert rows["published"].to_list() == [735.6, 535.7, 513.6, 0.1]
    flows = results.where(scheme="XMP-4", pattern="Incast").flows.filter(
        pl.col("end") == "finished"
    )
    ours = flows.group_by("seed").agg(pl.col("goodput_bps").mean())["goodput_bps"].mean()
    assert isinstance(ours, float)
    assert rows["ours"][1] == pytest.approx(ours / 1e6)
    assert rows["difference"][1] == pytest.approx(ours / 1e6 / 535.7 - 1)
    assert rows["within"][1] == (abs(rows["difference"][1]) <= 0.1)
    assert rows["within"][3] is None


def test_ratios_are_of_runs_with_the_same_seed(fake: None, tmp_path: Path) -> None:
    (tmp_path / "expected.toml").write_text("""
[[tab1.number]]
quantity = "goodput"
where = { group = "large" }
relative_to = { scheme = "DCTCP" }
unit = "%"
axes = ["pattern", "scheme"]
values.Incast = { DCTCP = 100, XMP-4 = 126 }
""")
    path = write_scenario(tmp_path)
    results = pathweave.run(path, seeds=3, out=tmp_path / "out", progress=False)
    rows = results.published()
    assert rows["title"][1] == "Goodput, mean, large, over that of DCTCP, %"
    assert rows["ours"][0] == pytest.approx(100)
    means = (
        results.where(pattern="Incast")
        .flows.filter(pl.col("end") == "finished")
        .group_by("seed", "scheme")
        .agg(pl.col("goodput_bps").mean())
        .pivot(on="scheme", index="seed", values="goodput_bps")
    )
    ratios = means["XMP-4"] / means["DCTCP"]
    assert rows["ours"][1] == pytest.approx(100 * float(ratios.mean()))  # pyright: ignore[reportArgumentType]
    # Without the other run there is nothing to compare with.
    alone = pathweave.run(
        path, only={"scheme": "XMP-4"}, out=tmp_path / "alone", progress=False
    ).published()
    assert alone["ours"].to_list() == [None, None]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.integers(0, 99))
def test_statistics_agree_with_polars(values: list[float], percent: int) -> None:
    series = pl.Series(values)
    expected = series.quantile(percent / 100, "linear")
    assert parse_statistic(f"p{percent}").of(series) == pytest.approx(expected)
    assert parse_statistic("mean").of(series) == pytest.approx(series.mean())
    assert parse_statistic("range").of(series) == max(values) - min(values)
    share = sum(value > 0.3 for value in values) / len(values)
    assert parse_statistic("over 300 ms").of(series) == pytest.approx(share)
