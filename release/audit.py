"""Compares Cargo.lock and the Python requirements with published advisories, for `make audit`.

The status is 1 if a locked version has an advisory. It is 0 if the advisories are not available:
the output says so, and states the date of the data otherwise.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

REQUIREMENTS = ["requirements.lock", "requirements-wheels.lock"]
# Both tools ask a server, which may not answer.
PATIENCE = 300


def answer(command: list[str]) -> tuple[dict[str, Any] | None, str]:
    """The JSON object that a command prints, or nothing and the reason."""
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return None, f"no answer within {PATIENCE} s"
    try:
        printed = json.loads(done.stdout)
    except ValueError:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        return None, (errors[:1] or lines[-1:] or ["it printed nothing"])[0]
    return (printed, "") if isinstance(printed, dict) else (None, "it printed no object")


def without(what: str, why: str) -> bool:
    """Says that something was not audited, which is no reason to fail."""
    print(f"{what}: not audited: {why}")
    return True


def date_of(clone: str) -> str | None:
    """The date of the newest commit of a clone, which cargo-audit does not give."""
    command = ["git", "-C", clone, "log", "-1", "--format=%cI"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() or None


def crates() -> bool:
    """Whether no locked crate has a known advisory."""
    if shutil.which("cargo-audit") is None:
        return without("Cargo.lock", "cargo-audit is missing (cargo install --locked cargo-audit)")
    database = os.environ.get("ADVISORY_DB")
    where = ["--db", database, "--no-fetch"] if database else []
    report, why = answer(["cargo", "audit", "--json", *where])
    if report is None:
        return without("Cargo.lock", f"the advisories of rustsec.org are not available: {why}")
    data = report.get("database") or {}
    found = report["vulnerabilities"]["list"]
    updated = data.get("last-updated") or (database and date_of(database)) or "of unknown date"
    count = data.get("advisory-count", "?")
    print(f"Cargo.lock: {len(found)} vulnerable ({count} advisories of rustsec.org, {updated})")
    for one in found:
        package, advisory = one["package"], one["advisory"]
        fixed = ", ".join(one.get("versions", {}).get("patched", [])) or "none"
        about = f"{advisory['id']}, {advisory['title']}; fixed: {fixed}"
        print(f"  {package['name']} {package['version']}: {about}")
    for kind, warnings in report.get("warnings", {}).items():
        for one in warnings:
            advisory = (one.get("advisory") or {}).get("id", "no advisory")
            print(f"  {one['package']['name']} {one['package']['version']}: {kind} ({advisory})")
    return not found


def python_packages(lock: str) -> bool:
    """Whether no locked Python package has a known advisory."""
    command = [sys.executable, "-m", "pip_audit"]
    if importlib.util.find_spec("pip_audit") is None:
        return without(lock, "pip-audit is missing (.venv/bin/python -m pip install pip-audit)")
    # The locks name every package with its hash: nothing has to be resolved or installed.
    options = ["--disable-pip", "--require-hashes", "--requirement", lock]
    report, why = answer([*command, *options, "--format", "json", "--progress-spinner", "off"])
    if report is None:
        return without(lock, f"the advisories of PyPI are not available: {why}")
    packages = report["dependencies"]
    known = [package for package in packages if "skip_reason" not in package]
    if not known:
        return without(lock, "the advisories of PyPI are not available: no package is known there")
    found = [(package, one) for package in known for one in package["vulns"]]
    # PyPI gives its advisories no date: they are those of now.
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    of = f"{len(known)} of {len(packages)} packages"
    print(f"{lock}: {len(found)} advisories for {of} (PyPI, {now})")
    for package, one in found:
        fixed = ", ".join(one["fix_versions"]) or "none"
        print(f"  {package['name']} {package['version']}: {one['id']}; fixed: {fixed}")
    return not found


def main() -> int:
    """The status."""
    os.chdir(Path(__file__).parent.parent)
    passed = [crates(), *(python_packages(lock) for lock in REQUIREMENTS)]
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
