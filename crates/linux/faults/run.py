"""Puts faults into a copy of the sources, one at a time, and sees whether their tests notice.

It needs root, because the tests load controllers into the kernel:

    sudo python3 crates/linux/faults/run.py            # all of faults.toml
    sudo python3 crates/linux/faults/run.py --only pacing
    python3 crates/linux/faults/run.py --check         # only whether each still applies

A fault is caught when its test fails with the message that the list expects. It is missed when the
test passes. Anything else is said as well: that it does not compile, that the test hangs, or that
it fails with another message. The exit status is 0 when all are caught.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
COPIED = ("Cargo.toml", "Cargo.lock", "crates", "fuzz")
PINS = Path("/sys/fs/bpf/pathweave")
SECONDS = 240
"""A test that takes longer hangs."""


def faults() -> list[dict[str, str]]:
    """The list, in its order."""
    return tomllib.loads((HERE / "faults.toml").read_text())["fault"]


def faulty(fault: dict[str, str], root: Path) -> str:
    """The text of the file with the fault in it."""
    text = (root / "crates/linux" / fault["file"]).read_text()
    found = text.count(fault["find"])
    if found != 1:
        sys.exit(f"{fault['name']}: {fault['file']} has its text {found} times, not once")
    return text.replace(fault["find"], fault["replace"])


def copy(target: Path) -> Path:
    """The copied sources; those that have not changed keep their time: they are not built again."""
    copied = target / "source"
    # What is no longer there must not be built either.
    for path in copied.rglob("*"):
        if path.is_file() and not (ROOT / path.relative_to(copied)).exists():
            path.unlink()
    for name in COPIED:
        found = [ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*")
        for path in found:
            place = copied / path.relative_to(ROOT)
            if path.is_file() and not (place.exists() and place.read_bytes() == path.read_bytes()):
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
    return copied


@contextmanager
def alone(lock: Path | None) -> Iterator[None]:
    """Holds the lock, if there is one."""
    if lock is None:
        yield
        return
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def cargo(
    source: Path, target: Path, *words: str, seconds: int | None = None
) -> tuple[int | None, str]:
    """The status, none where it had to be ended, and all that was said."""
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(target),
        "PATHWEAVE_REQUIRE_KERNEL": "yes",
        "RUST_BACKTRACE": "0",
    }
    # Most of the time goes to compiling.
    command = [
        "cargo",
        "--config=profile.dev.debug=false",
        "--config=profile.dev.opt-level=0",
        '--config=profile.dev.package."*".opt-level=0',
        "--config=profile.dev.package.pathweave-network.opt-level=0",
        "--config=profile.dev.package.pathweave-transport.opt-level=0",
        "--config=profile.dev.package.pathweave-engine.opt-level=0",
        "test",
        "--quiet",
        "--package",
        "pathweave-linux",
        "--test",
        "linux",
        *words,
    ]
    process = subprocess.Popen(
        command,
        cwd=source,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        process_group=0,
    )
    try:
        said, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        return None, said
    return process.returncode, said


def verdict(
    fault: dict[str, str], source: Path, target: Path, lock: Path | None, sound: Path
) -> str:
    """What came of the fault, which is in the source already."""
    status, said = cargo(source, target, "--no-run")
    if status != 0:
        return f"DOES NOT COMPILE\n{said}"
    with alone(lock):
        if PINS.exists():
            sys.exit(f"controllers are loaded already: {PINS}")
        status, said = cargo(source, target, "--", "--exact", fault["test"], seconds=SECONDS)
        for left in PINS.iterdir() if PINS.exists() else ():
            subprocess.run(
                [sound, "kernel", "unload", left.name.removeprefix("pw_"), "--force"], check=True
            )
    if status is None:
        return f"HANGS for {SECONDS} s"
    if status == 0:
        return "missed" if "1 passed" in said else f"NOT RUN\n{said}"
    message = re.search(r"panicked at [^\n]*\n(.*?)\n(?:note:|stack backtrace|\n)", said, re.DOTALL)
    text = " ".join((message[1] if message else said[-500:]).split())
    if "1 failed" in said and fault["says"] in text:
        return f"caught ({text})"
    return f"FAILS OTHERWISE ({text})"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        metavar="TEXT",
        default="",
        help="faults whose names have this text: --only pacing",
    )
    parser.add_argument(
        "--check", action="store_true", help="only see whether each fault still applies"
    )
    parser.add_argument(
        "--target",
        metavar="DIR",
        type=Path,
        default=ROOT / "target/faults",
        help="where to build: a folder that nothing else is built in",
    )
    parser.add_argument(
        "--lock",
        metavar="FILE",
        type=Path,
        help="a lock that each test takes: --lock /run/kernel.lock",
    )
    asked = parser.parse_args()
    chosen = [fault for fault in faults() if asked.only in fault["name"]]
    for fault in chosen:
        faulty(fault, ROOT)
    if asked.check:
        return
    target = asked.target.resolve()
    source = copy(target)
    status, said = cargo(source, target, "--no-run")
    if status != 0:
        sys.exit(said)
    sound = target / "pathweave-linux-without-fault"
    shutil.copy2(target / "debug/pathweave-linux", sound)
    with alone(asked.lock):
        status, said = cargo(
            source, target, "--", "--exact", *sorted({fault["test"] for fault in chosen})
        )
    if status != 0:
        sys.exit(f"without a fault the tests do not pass:\n{said}")
    caught = 0
    for fault in chosen:
        place = source / "crates/linux" / fault["file"]
        sane = place.read_text()
        place.write_text(faulty(fault, source))
        try:
            seen = verdict(fault, source, target, asked.lock, sound)
        finally:
            place.write_text(sane)
        caught += seen.startswith("caught")
        print(f"{fault['name']}: {fault['test']}: {seen}", flush=True)
    print(f"{caught} of {len(chosen)} are caught")
    sys.exit(caught != len(chosen))


if __name__ == "__main__":
    main()
