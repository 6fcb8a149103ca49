"""`pathweave demo`: a first table without a checkout."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from conftest import real


def test_demo_writes_its_scenario_runs_it_and_says_what_is_next(tmp_path: Path) -> None:
    done = real(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert "XMP-4" in done.stdout
    assert "pathweave report results/demo" in done.stdout
    assert len(list((tmp_path / "results" / "demo" / "quick").glob("*/manifest.json"))) == 9
    checked = real(tmp_path, "check", "demo.toml")
    assert checked.returncode == 0
    assert_results_are_recorded(tmp_path / "results" / "demo" / "quick")


RESULTS = {"0.1.0": "6cb79c44a848776b88bee9fa1dea4d0d"}
"""By version of results, a hash of the results of the demo's runs."""


def assert_results_are_recorded(folder: Path) -> None:
    """Whoever changes a result has to say so: its version, the changelog, and this record."""
    manifests = [json.loads(path.read_text()) for path in sorted(folder.glob("*/manifest.json"))]
    (version,) = {manifest["results_version"] for manifest in manifests}
    together = " ".join(manifest["results_hash"] for manifest in manifests)
    found = hashlib.sha256(together.encode()).hexdigest()[:32]
    assert RESULTS.get(version) == found, (
        "the demo has other results than before: add a line under Results in CHANGELOG.md, set "
        f"RESULTS_VERSION to the next version where it is not, and record {version}: {found} here"
    )


def test_a_scenario_that_the_user_has_changed_is_run_as_it_is(tmp_path: Path) -> None:
    scenario = tmp_path / "demo.toml"
    real(tmp_path, "demo")
    text = scenario.read_text().replace('at = "400 ms"', 'at = "10 ms"').replace("seeds = 3", "")
    scenario.write_text(text)
    done = real(tmp_path, "demo")
    assert done.returncode == 0, done.stderr
    assert scenario.read_text() == text
    assert "1 seed" in done.stdout


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "demo.toml").mkdir()
    done = real(tmp_path, "demo")
    assert done.returncode == 2
    assert "demo.toml is not a file; run the demo in another folder" in done.stderr
    done = real(tmp_path, "demo", "missing")
    assert done.returncode == 1
    assert "cannot write missing/demo.toml" in done.stderr
