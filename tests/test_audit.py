"""`make audit` with advisories, without, and with tools that are missing."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOUND = {
    "database": {"advisory-count": 900, "last-updated": "2026-11-01T00:00:00Z"},
    "vulnerabilities": {
        "list": [
            {
                "package": {"name": "pyo3", "version": "0.1.0"},
                "advisory": {"id": "RUSTSEC-2026-0001", "title": "a fault"},
                "versions": {"patched": [">=0.2.0"]},
            }
        ]
    },
    "warnings": {},
}


def audit(folder: Path, cargo: str) -> tuple[int, str]:
    """The status and output of an audit for which a script of this text stands for cargo."""
    for name in ["cargo", "cargo-audit"]:
        (folder / name).write_text(f"#!/bin/sh\n{cargo}\n")
        (folder / name).chmod(0o755)
    # Without site packages, and so without pip-audit.
    command = [sys.executable, "-S", str(ROOT / "release/audit.py")]
    done = subprocess.run(
        command,
        env={"PATH": f"{folder}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return done.returncode, done.stdout


def test_a_locked_crate_with_an_advisory_fails(tmp_path: Path) -> None:
    (tmp_path / "report").write_text(json.dumps(FOUND))
    status, said = audit(tmp_path, f"cat {tmp_path}/report; exit 1")
    assert status == 1
    assert "1 vulnerable, by 900 advisories of rustsec.org of 2026-11-01" in said
    assert "pyo3 0.1.0: RUSTSEC-2026-0001, a fault; fixed: >=0.2.0" in said
    assert "requirements.lock: not audited: pip-audit is missing" in said


def test_without_advisories_it_says_so(tmp_path: Path) -> None:
    status, said = audit(tmp_path, "echo 'error: no advisory database' >&2; exit 2")
    assert status == 0
    assert "Cargo.lock: not audited: the advisories of rustsec.org cannot be had" in said
    assert "no advisory database" in said


def test_without_an_advisory_it_passes(tmp_path: Path) -> None:
    report = FOUND | {"vulnerabilities": {"list": []}}
    (tmp_path / "report").write_text(json.dumps(report))
    status, said = audit(tmp_path, f"cat {tmp_path}/report")
    assert status == 0
    assert "Cargo.lock: 0 vulnerable" in said
