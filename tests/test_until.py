"""`--until`: seeds are added until the intervals are narrow enough."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

import pathweave
from conftest import Command, write_scenario
from pathweave.errors import InputError
from pathweave.results.read import find_runs
from pathweave.running.until import parse_target

if TYPE_CHECKING:
    from pathlib import Path

AXES = 'scheme = ["DCTCP", "XMP-4", "LIA-4"]'
T_975 = {7: 2.3646, 11: 2.2010, 15: 2.1314, 19: 2.0930, 23: 2.0687, 27: 2.0518, 31: 2.0395}
"""Quantiles of Student's t, from a table."""


def widest(folder: Path, seeds: int) -> float:
    """The widest paired half-interval of the first seeds, as a share of the baseline's mean."""
    means: dict[str, list[float]] = {}
    for run in find_runs([folder])[0].runs:
        if run.seed <= seeds:
            goodput = run.read("flows").filter("in_window")["goodput_bps"].drop_nulls()
            means.setdefault(run.label, []).append(float(goodput.mean()))  # pyright: ignore[reportArgumentType]
    base = np.array(means.pop("DCTCP"))
    assert len(base) == seeds
    halves = [
        T_975[seeds - 1] * np.std(np.array(other) - base, ddof=1) / np.sqrt(seeds)
        for other in means.values()
    ]
    return float(max(halves) / base.mean())


def test_seeds_are_added_until_two_looks_are_narrow(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    done = cli("run", "tab1.toml", "--seeds", "32", "--until", "goodput=4%")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "results/tab1/quick"
    count = max(run.seed for run in find_runs([folder])[0].runs)
    assert 12 <= count < 32
    looks = [widest(folder, seeds) <= 0.04 for seeds in range(8, count + 1, 4)]
    assert looks[-2:] == [True, True]
    assert not any(one and two for one, two in pairwise(looks[:-1]))
    text = " ".join(done.stderr.split())
    assert f"{count} seeds are enough for 4 %: the widest interval is ±" in text
    assert f"paired by seed ({count} seeds" in " ".join(done.stdout.split())
    # The same command has nothing left to run, and a wider target needs no more.
    for target in ("goodput=4%", "goodput = 4 %"):
        again = cli("run", "tab1.toml", "--seeds", "32", "--until", target)
        assert "started" not in again.stderr
        assert f"{count} seeds are enough" in " ".join(again.stderr.split())


def test_the_most_seeds_may_not_be_enough(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes=AXES)
    done = cli("run", "tab1.toml", "--seeds", "10", "--until", "0.01%")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stderr.split())
    assert "10 seeds are not enough for 0.01 %" in text
    assert "Allow more with --seeds." in text
    assert len(find_runs([tmp_path / "results"])[0].runs) == 30


def test_one_variant_has_the_interval_of_its_mean(cli: Command, tmp_path: Path) -> None:
    write_scenario(tmp_path, axes="")
    done = cli("run", "tab1.toml", "--until", "goodput=20%")
    assert done.returncode == 0, done.stderr
    assert "12 seeds are enough for 20 %" in " ".join(done.stderr.split())


@pytest.mark.usefixtures("fake")
def test_a_notebook_has_it_too(tmp_path: Path) -> None:
    path = write_scenario(tmp_path, axes=AXES)
    results = pathweave.run(
        path, seeds=9, until="goodput=0.01%", out=tmp_path / "out", progress=False
    )
    assert results.runs["seed"].max() == 9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2", "takes a percentage above 0"),
        ("0%", "takes a percentage above 0"),
        ("-1%", "takes a percentage above 0"),
        ("speed=2%", '--until: unknown quantity "speed"'),
        ("fct of nobody=2%", '--until: there is no traffic group "nobody"'),
    ],
)
def test_a_wrong_target_is_refused(cli: Command, tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_target(text, ["large"])
    write_scenario(tmp_path, axes=AXES)
    done = cli("run", "tab1.toml", "--until", text)
    assert done.returncode == 2
    assert not (tmp_path / "results").exists()
