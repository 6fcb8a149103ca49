"""`make audit` with advisories, without, and with missing tools."""

import json
import re
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
VULNERABLE = {"id": "PYSEC-2026-1", "fix_versions": ["2.0"]}


def audit(folder: Path, cargo: str = "exit 2", pip_audit: str = "", **more: str) -> tuple[int, str]:
    """The status and output of an audit in which scripts of these texts take the tools' places.

    Without a text, pip-audit is missing.
    """
    for name in ["cargo", "cargo-audit"]:
        (folder / name).write_text(f"#!/bin/sh\n{cargo}\n")
        (folder / name).chmod(0o755)
    if pip_audit:
        (folder / "pip_audit.py").write_text(pip_audit)
    # Without site packages, which may have a pip-audit.
    command = [sys.executable, "-S", str(ROOT / "release/audit.py")]
    done = subprocess.run(
        command,
        env={"PATH": f"{folder}:/usr/bin:/bin", "PYTHONPATH": str(folder), **more},
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
    assert "1 vulnerable (900 advisories of rustsec.org, 2026-11-01" in said
    assert "pyo3 0.1.0: RUSTSEC-2026-0001, a fault; fixed: >=0.2.0" in said
    assert "requirements.lock: not audited: pip-audit is missing" in said


def test_without_advisories_it_says_so(tmp_path: Path) -> None:
    status, said = audit(tmp_path, "echo 'error: no advisory database' >&2; exit 2")
    assert status == 0
    assert "Cargo.lock: not audited: the advisories of rustsec.org are not available" in said
    assert "no advisory database" in said


def test_without_an_advisory_it_passes(tmp_path: Path) -> None:
    report = FOUND | {"vulnerabilities": {"list": []}}
    (tmp_path / "report").write_text(json.dumps(report))
    status, said = audit(tmp_path, f"cat {tmp_path}/report")
    assert status == 0
    assert "Cargo.lock: 0 vulnerable" in said


def test_the_date_of_a_clone_is_that_of_its_newest_commit(tmp_path: Path) -> None:
    """cargo-audit gives no date for a database that it does not fetch."""
    report = FOUND | {"vulnerabilities": {"list": []}, "database": {"last-updated": None}}
    (tmp_path / "report").write_text(json.dumps(report))
    clone = tmp_path / "clone"
    clone.mkdir()
    date = "2026-10-05T12:00:00+00:00"
    config = ["-c", "user.name=x", "-c", "user.email=x"]
    for arguments in [["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "--message=x"]]:
        subprocess.run(
            ["git", *config, *arguments],
            cwd=clone,
            env={"PATH": "/usr/bin:/bin", "GIT_COMMITTER_DATE": date, "HOME": str(tmp_path)},
            check=True,
        )
    said = {}
    for database in [clone, tmp_path]:
        status, said[database] = audit(
            tmp_path, f"cat {tmp_path}/report", ADVISORY_DB=str(database)
        )
        assert status == 0
    assert f"rustsec.org, {date})" in said[clone].replace("Z)", "+00:00)")
    assert "of unknown date" in said[tmp_path]


def test_a_locked_python_package_with_an_advisory_fails(tmp_path: Path) -> None:
    packages = [
        {"name": "numpy", "version": "1.0", "vulns": [VULNERABLE]},
        {"name": "polars", "skip_reason": "unknown there"},
    ]
    status, said = audit(tmp_path, pip_audit=f"print({json.dumps({'dependencies': packages})!r})")
    assert status == 1
    stated = r"requirements\.lock: 1 advisories for 1 of 2 packages \(PyPI, \d{4}-\d\d-\d\d "
    assert re.search(stated, said), said
    assert "numpy 1.0: PYSEC-2026-1; fixed: 2.0" in said


def test_without_an_answer_of_pypi_it_says_so(tmp_path: Path) -> None:
    for tool in [
        "import sys; sys.exit('ERROR: cannot connect')",
        'print(\'{"dependencies": [{"name": "numpy", "skip_reason": "unknown there"}]}\')',
    ]:
        status, said = audit(tmp_path, pip_audit=tool)
        assert status == 0
        assert "requirements.lock: not audited: the advisories of PyPI are not available" in said


def test_make_test_does_not_audit() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert "\naudit: " in makefile
    recipes = re.findall(r"^(test[\w-]*):.*\n((?:\t.*\n)*)", makefile, re.MULTILINE)
    assert recipes
    assert not [name for name, recipe in recipes if "audit" in recipe]
