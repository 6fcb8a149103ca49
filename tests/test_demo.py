"""`pathweave demo`: a first table without a checkout."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("pathweave")


def demo(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, "demo", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


def test_demo_writes_its_scenario_runs_it_and_says_what_is_next(tmp_path: Path) -> None:
    done = demo(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "XMP-4" in done.stdout
    assert "pathweave report results/demo" in done.stdout
    assert len(list((tmp_path / "results" / "demo" / "quick").glob("*/manifest.json"))) == 9
    checked = subprocess.run([COMMAND, "check", "demo.toml"], cwd=tmp_path, check=False)
    assert checked.returncode == 0
    assert_results_are_recorded(tmp_path / "results" / "demo" / "quick")


RESULTS = {"0.1.0": "36758101ffd8d7be007f20fc917197cb"}
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
    demo(tmp_path)
    text = scenario.read_text().replace('at = "400 ms"', 'at = "10 ms"').replace("seeds = 3", "")
    scenario.write_text(text)
    done = demo(tmp_path)
    assert done.returncode == 0, done.stderr
    assert scenario.read_text() == text
    assert "1 seed" in done.stdout


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "demo.toml").mkdir()
    done = demo(tmp_path)
    assert done.returncode == 2
    assert "demo.toml is not a file; run the demo in another folder" in done.stderr
    done = demo(tmp_path, "missing")
    assert done.returncode == 1
    assert "cannot write missing/demo.toml" in done.stderr
