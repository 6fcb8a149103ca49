"""The native bench binary: building it, running it, and counting its instructions."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pathweave.errors import InputError, PathweaveError

PACKAGE = "pathweave-engine"
BINARY = "pathweave-bench"
Profile = Literal["release", "tested"]
"""Of Cargo: what `make setup` builds, or what tests build."""
_COLLECTED = re.compile(r"Collected\s*:\s*([0-9]+)")


@dataclass(frozen=True)
class NativeRun:
    """What one run of the binary says of itself."""

    packet_hops: int
    cpu_s: float
    peak_rss_mb: float
    results_hash: str
    goodput_share: float
    """Goodput of all flows over what the hosts' links could carry."""


def source_tree() -> Path:
    """The checkout that has the benches, from the current folder up, or that of this package.

    Raises `InputError` when Pathweave runs from neither.
    """
    here = Path.cwd()
    for folder in (here, *here.parents, *Path(__file__).resolve().parents):
        if (folder / "benches").is_dir() and (folder / "Cargo.toml").is_file():
            return folder
    raise InputError("`pathweave bench` needs the source tree: run it from a checkout")


def build(tree: Path, profile: Profile = "release") -> Path:
    """Build the binary with this profile of Cargo.toml and return its path."""
    cargo = shutil.which("cargo")
    if cargo is None:
        raise PathweaveError("`pathweave bench` needs cargo, which is not on the path")
    cargo_build = [cargo, "build", "--profile", profile, "--package", PACKAGE, "--bin", BINARY]
    cargo_build += ["--message-format", "json-render-diagnostics"]
    done = subprocess.run(  # noqa: S603
        cargo_build, cwd=tree, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0:
        raise PathweaveError(f"cargo could not build {BINARY}")
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message.get("executable"):
            return Path(message["executable"])
    raise PathweaveError(f"cargo built no {BINARY}")


def measure(binary: Path, scenario: Path, until: str) -> NativeRun:
    """Run `scenario` up to simulated time `until` ("20 ms")."""
    return measured(_run(command(binary, scenario, until), scenario).stdout, scenario)


def command(binary: Path, scenario: Path, until: str) -> list[str]:
    """What runs `scenario` up to simulated time `until` and prints JSON."""
    return [str(binary), str(scenario), "--until", until, "--json"]


def instructions(binary: Path, scenario: Path, until: str) -> tuple[int, int]:
    """Instructions and packet-hops of a run under callgrind; raises when valgrind fails."""
    with tempfile.TemporaryDirectory() as folder:
        callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
        done = _run([*callgrind, *command(binary, scenario, until)], scenario)
    found = _COLLECTED.search(done.stderr)
    if found is None:
        raise PathweaveError(f"callgrind counted nothing for {scenario.name}")
    return int(found[1]), measured(done.stdout, scenario).packet_hops


def has_valgrind() -> bool:
    """Whether instructions can be counted on this machine."""
    return shutil.which("valgrind") is not None


def measured(text: str, scenario: Path) -> NativeRun:
    """What the binary printed about `scenario`. Raises `PathweaveError` if that is not its JSON."""
    try:
        value: dict[str, Any] = json.loads(text)
        return NativeRun(
            packet_hops=int(value["packet_hops"]),
            cpu_s=float(value["cpu_s"]),
            peak_rss_mb=float(value["peak_rss_mb"]),
            results_hash=str(value["results_hash"]),
            goodput_share=float(value["goodput_share"]),
        )
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise PathweaveError(f"{BINARY} gave no usable JSON on {scenario.name}: {error}") from error


def _run(arguments: list[str], scenario: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(  # noqa: S603
        arguments, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise PathweaveError(f"{BINARY} failed on {scenario.name}: {_reason(done.stderr)}")
    return done


def _reason(text: str) -> str:
    """The last line that is the binary's own, else the one in which valgrind says how it ended."""
    lines = text.strip().splitlines()
    ours = [line for line in lines if not line.startswith("==")]
    ended = [line.partition(" ")[2] for line in lines if "terminating" in line]
    return (ours or ended or ["it said nothing"])[-1]
