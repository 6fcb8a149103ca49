"""Axes that have the name of a column that tables have anyway."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from conftest import command_line, run_here
from pathweave import load

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {"first": "dctcp", "second": "reno"}
COLUMNS = ["flows", "group", "variant", "scenario", "seeds", "jobs", "title", "ours"]
SCENARIO = """
title = "Two flows"

[fabric]
kind = "dumbbell"
left = 2
right = 2
bottleneck_rate = "100 Mbps"
bottleneck_delay = "100 us"
host_rate = "1 Gbps"
host_delay = "10 us"

[[traffic]]
name = "short"
pattern = "flows"
size = "100 KB"
flows = [{{ name = "x", from = "S1", to = "D1" }}, {{ name = "y", from = "S2", to = "D2" }}]

[stop]
at = "50 ms"

[variants.{axis}."first"]
"traffic.short.controller" = "dctcp"

[variants.{axis}."second"]
"traffic.short.controller" = "reno"

[variants.size."small"]
"traffic.short.size" = "50 KB"
"""
EXPECTED = """
[test]
title = "Two flows"

[[test.number]]
name = "goodput"
quantity = "goodput"
unit = "Mbps"
axes = ["{axis}"]
values = {{ first = 50, second = 50 }}
"""


@pytest.mark.parametrize("axis", COLUMNS)
def test_such_an_axis_keeps_its_names(axis: str, tmp_path: Path) -> None:
    (tmp_path / "test.toml").write_text(SCENARIO.format(axis=axis))
    (tmp_path / "expected.toml").write_text(EXPECTED.format(axis=axis))
    out = tmp_path / "out"
    done = command_line("run", str(tmp_path / "test.toml"), "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    table = done.stdout.partition('Flows of "short"')[2]
    for name in NAMES:
        assert re.search(rf"(?m)^\s*{name}\b", table), done.stdout
    assert "Ours (published)" in done.stdout

    (folder,) = out.glob("*/quick")
    (document,) = json.loads(run_here("report", str(folder), "--json")[1])["scenarios"]
    found = [row.get(f"axis_{axis}", row.get(axis)) for row in document["summary"]]
    assert found == list(NAMES)
    runs = load(folder).runs
    column = f"axis_{axis}" if f"axis_{axis}" in runs.columns else axis
    assert runs[column].to_list() == list(NAMES)


def test_the_heading_is_the_chosen_name(tmp_path: Path) -> None:
    path = tmp_path / "test.toml"
    text = SCENARIO.format(axis="scheme") + (
        '\n[variants.flows."30 flows"]\n"traffic.short.size" = "60 KB"\n'
        '\n[variants.flows."40 flows"]\n"traffic.short.size" = "70 KB"\n'
    )
    path.write_text(text)
    arguments = ("run", str(path), "--only", "flows=30 flows", "--out", str(tmp_path / "out"))
    done = command_line(*arguments)
    assert done.returncode == 0, done.stderr
    assert "30 flows" in done.stdout.partition('Flows of "short"')[2]
