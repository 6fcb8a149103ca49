#!/usr/bin/env python3
"""Times every step of `make test`: each line of its recipes, in wall-clock and CPU seconds.

    python3 tests/steps.py                      # in this tree, as it is
    python3 tests/steps.py --clone              # in a fresh clone of its last commit
    python3 tests/steps.py --clone --again      # and once more, after a change in crates/control
    python3 tests/steps.py demo                 # of `make demo`
    python3 tests/steps.py test REQUIRE_KERNEL=yes

Prints a Markdown table. Make runs this program in place of its shell, so the steps are those of the
Makefile.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = "PATHWEAVE_STEPS"
"""The environment variable that names the file to which steps are written."""
SHORT = 1.0
"""Seconds below which steps are added up in one row."""
TOUCHED = "crates/control/src/registry.rs"


@dataclass(frozen=True)
class Step:
    """One line of a recipe."""

    text: str
    wall_s: float
    cpu_s: float
    status: int

    @property
    def makes(self) -> bool:
        """Whether it is a call of make, whose steps are listed by themselves."""
        return any(Path(word).name in ("make", "gmake") for word in self.text.split())

    @property
    def name(self) -> str:
        """The command, without variables before it and within a table's width."""
        words = self.text.replace("\\\n", " ").split()
        while len(words) > 1 and "=" in words[0]:
            del words[0]
        line = " ".join(words).replace("|", "\\|")
        return line if len(line) <= 72 else f"{line[:71]}…"


def shell(arguments: list[str]) -> int:
    """Run a line as the shell would, and write down what it took."""
    step = Step(arguments[-1], 0.0, 0.0, 0)
    # Build scripts of libraries call make, and tests call this program: neither is a step.
    own = ("MAKEFLAGS", RECORD)
    environment = {k: v for k, v in os.environ.items() if step.makes or k not in own}
    began = time.monotonic()
    status = subprocess.call(["/bin/sh", *arguments], env=environment)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall_s, cpu_s = time.monotonic() - began, used.ru_utime + used.ru_stime
    step = Step(arguments[-1], wall_s, cpu_s, status)
    with Path(os.environ[RECORD]).open("a") as record:
        record.write(json.dumps(asdict(step)) + "\n")
    return status if status >= 0 else 128 - status


def measure(tree: Path, words: list[str]) -> list[Step]:
    """The steps of one `make`; those of a make that fails too."""
    with tempfile.NamedTemporaryFile(prefix="steps-", suffix=".jsonl") as record:
        command = ["make", *words, "SHELL=tests/steps.py"]
        environment = os.environ | {RECORD: record.name}
        print(f"in {tree}: {shlex.join(command[:-1])}", file=sys.stderr, flush=True)
        began = time.monotonic()
        # What it prints is for whoever waits; the table alone is for standard output.
        status = subprocess.call(command, cwd=tree, env=environment, stdout=sys.stderr)
        wall_s = time.monotonic() - began
        steps = [Step(**json.loads(line)) for line in Path(record.name).read_text().splitlines()]
    cpu_s = sum(step.cpu_s for step in steps if not step.makes)
    return [*steps, Step("total", wall_s, cpu_s, status)]


def table(steps: list[Step]) -> str:
    """The steps in their order, short ones together."""
    *parts, total = steps
    rows = ["| step | wall (s) | CPU (s) |", "|---|---:|---:|"]
    alone = [step for step in parts if not step.makes]
    long = [step for step in alone if max(step.wall_s, step.cpu_s) >= SHORT]
    short = [step for step in alone if step not in long]
    for step in long:
        failed = "" if step.status == 0 else f" (failed: {step.status})"
        rows.append(f"| `{step.name}`{failed} | {step.wall_s:.0f} | {step.cpu_s:.0f} |")
    wall_s, cpu_s = (sum(getattr(step, what) for step in short) for what in ("wall_s", "cpu_s"))
    rows.append(f"| {len(short)} steps below {SHORT:g} s | {wall_s:.0f} | {cpu_s:.0f} |")
    rows.append(f"| all | {total.wall_s:.0f} | {total.cpu_s:.0f} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Times every step of `make test`.", epilog="Example: tests/steps.py --clone"
    )
    parser.add_argument("words", nargs="*", default=["test"], help="what make is given [test]")
    parser.add_argument("--clone", action="store_true", help="in a fresh clone of the last commit")
    parser.add_argument(
        "--again", action="store_true", help=f"a second time, after a change of {TOUCHED}"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pathweave-steps-") as folder:
        tree = ROOT
        if asked.clone:
            # Some tests run the clone's programs as an unprivileged user.
            Path(folder).chmod(0o755)
            tree = Path(folder) / "clone"
            subprocess.run(["git", "clone", "--quiet", ROOT, tree], check=True)
        first = measure(tree, asked.words)
        print(table(first), flush=True)
        if first[-1].status == 0 and asked.again:
            (tree / TOUCHED).touch()
            first = measure(tree, asked.words)
            print(f"\nAfter a change of {TOUCHED}:\n\n{table(first)}")
        return first[-1].status


if __name__ == "__main__":
    # Make calls its shell with flags and one line.
    sys.exit(shell(sys.argv[1:]) if RECORD in os.environ else main())
