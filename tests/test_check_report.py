"""`pathweave check` refuses what `pathweave run` would refuse about `[report]`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from conftest import real, run_here

if TYPE_CHECKING:
    from pathlib import Path

SCENARIO = """
[fabric]
kind = "star"
senders = 2
rate = "1 Gbps"
delay = "5 us"

[[traffic]]
name = "small"
pattern = "many-to-one"
destination = "D1"
size = "100 KB"
concurrency = 2
count = 4
controller = "dctcp"

[report]
{report}

[variants.scheme."DCTCP"]

[variants.scheme."Reno"]
"traffic.small.controller" = "reno"
"""


@pytest.mark.parametrize(
    ("report", "said"),
    [
        ('quantity = "p99 slowness"', ':18: report.quantity: unknown quantity "slowness"'),
        ('quantity = "fct of large"', ':18: report.quantity: there is no traffic group "large"'),
        ('baseline = "XMP"', 'there is no variant "XMP" for a baseline'),
    ],
)
def test_a_question_that_no_result_answers(tmp_path: Path, report: str, said: str) -> None:
    path = tmp_path / "asked.toml"
    path.write_text(SCENARIO.format(report=report))
    for verb in ("check", "run"):
        code, _, error = run_here(verb, str(path), "--out", str(tmp_path / "results"))
        assert code == 2
        assert said in " ".join(error.split())
    code, printed, _ = run_here("check", str(path), "--json")
    assert code == 2
    assert json.loads(printed)["valid"] is False


def test_what_is_set_on_the_command_line_has_no_line(tmp_path: Path) -> None:
    path = tmp_path / "asked.toml"
    path.write_text(SCENARIO.format(report='quantity = "p99 slowdown of small"'))
    assert run_here("check", str(path))[0] == 0
    code, _, error = run_here("check", str(path), "--set", 'report.quantity="p99 slowness"')
    assert code == 2
    assert "error: report.quantity: unknown quantity" in " ".join(error.split())


def test_a_question_in_a_pipe(tmp_path: Path) -> None:
    text = SCENARIO.format(report='quantity = "p99 slowdown of small"')
    done = real(tmp_path, "check", "-", given=text)
    assert done.returncode == 0, done.stderr
    assert "is valid" in done.stdout
    wrong = SCENARIO.format(report='quantity = "p99 slowness"')
    done = real(tmp_path, "check", "-", given=wrong)
    assert done.returncode == 2
    assert "report.quantity: unknown quantity" in done.stderr
