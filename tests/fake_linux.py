"""Stands in for the binary `pathweave-linux`: the same arguments and output, made-up results.

`install` writes a script that runs this file. What its testbed does comes from `[testbed]` in the
scenario file: `refuse` (slugs of variants that it refuses), `fail` (slugs that fail), `invalid`
(runs, as "slug-s1", that are marked as invalid), `notes`, `wait` (it runs until it is interrupted)
and `deaf` (it does not end before the second signal). Its tables are the fake core's, with rates a
tenth lower, or those in the JSON file that the variable FAKE_TABLES names. Each call adds its
arguments to `calls.jsonl` in the working folder.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import synthetic
from interpreted import FIRST_LINES
from pathweave.results import schema

SLOWER = 0.9


def install(folder: Path) -> Path:
    """A program in `folder` that is this fake."""
    path = folder / "pathweave-linux"
    path.write_text(f"{FIRST_LINES}import fake_linux\nfake_linux.main()\n")
    path.chmod(0o755)
    return path


def plain(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, list[Any]]]:
    """Tables of the core as JSON has them: lists, null for NaN."""

    def values(column: Any) -> list[Any]:
        found = column.tolist() if isinstance(column, np.ndarray) else list(column)
        return [None if isinstance(v, float) and math.isnan(v) else v for v in found]

    return {
        name: {column: values(table[column]) for column in table} for name, table in tables.items()
    }


def output(
    tables: dict[str, Any],
    *,
    valid: bool = True,
    stretch: int = 1,
    gso: bool = True,
    over_quic: Sequence[str] = (),
) -> dict[str, Any]:
    """What the binary writes about one run."""
    return {
        "verdict": "stopped",
        "notes": [],
        "results_hash": "1234",
        "counters": {"ended_s": 2.0, "flows_started": 10, "flows_finished": 8},
        "tables": tables,
        "wall_s": 2.5 * stretch,
        "cpu_s": 1.5,
        "peak_rss_mb": 12.0,
        "testbed": {
            "valid": valid,
            "reason": None if valid else "departures were too late",
            "stretch": stretch,
            "gso": gso,
            "base_rtt_s": 0.018,
            "lateness_s": {"p50": 1e-6, "p90": 3e-5, "p99": 9e-4, "p999": 4e-3, "max": 8e-3},
            "packets": 54_321,
            "kernel": "6.18.5",
            "controllers": {"xmp": "pw_xmp"},
            "quic": list(over_quic),
            "fabric_load_bps": 3e7,
        },
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", type=Path)
    parser.add_argument("--size")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--controller", action="append", default=[])
    parser.add_argument("--transport", action="append", default=[])
    parser.add_argument("--variant", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--stretch", type=int, default=1)
    parser.add_argument("--no-gso", action="store_true")
    parser.add_argument("--output", type=Path, required=True)
    return parser


def _over_quic(asked: argparse.Namespace) -> list[str]:
    """Names of the groups that QUIC is asked to play; "flows" stands for all that are multipath."""
    groups = [text.removesuffix("=quic") for text in asked.transport if text.endswith("=quic")]
    return sorted([*groups, *(["flows"] if "quic" in asked.transport else [])])


def _progress(fraction: float) -> None:
    said = {
        "time_s": 2.0 * fraction, "until_s": 2.0, "fraction": fraction,
        "packet_hops": int(1e5 * fraction), "flows_started": 10, "flows_finished": 0,
    }  # fmt: skip
    print(json.dumps(said), flush=True)


def _wait(*, deaf: bool) -> None:
    """Say how things stand until a signal comes, or nobody listens."""
    signals: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: signals.append(received))
    enough = 2 if deaf else 1
    _progress(0.25)
    Path("waiting").touch()
    try:
        while len(signals) < enough:
            _progress(0.25)
            time.sleep(0.01)
            if signals:
                Path("signalled").touch()
    except BrokenPipeError:
        signals = [signal.SIGPIPE]
    Path("ended.json").write_text(json.dumps(signals))
    sys.stderr.write("interrupted\n")
    os._exit(130)


def _tables(asked: argparse.Namespace, content: dict[str, Any]) -> dict[str, Any]:
    if "FAKE_TABLES" in os.environ:
        return json.loads(Path(os.environ["FAKE_TABLES"]).read_text())
    names = {
        axis: name
        for axis, values in content.get("axes", {}).items()
        for name in values
        if name.lower() in asked.variant
    }
    shape = {key: value for key, value in content["fake"].items() if key in ("flows", "phases")}
    tables = synthetic.tables(names, asked.seed, synthetic.Shape(**shape))
    for table in tables.values():
        if "goodput_bps" in table:
            table["goodput_bps"] = table["goodput_bps"] * SLOWER
    return {name: _shaped(name, table) for name, table in tables.items()}


def _shaped(name: str, table: Mapping[str, Any]) -> dict[str, list[Any]]:
    """All of the core's columns, whatever the made-up table has; their order says nothing."""
    rows = len(next(iter(table.values())))
    blank = {"whole": 0, "number": None, "flag": False, "text": ""}
    found = plain({name: table})[name]
    for column in schema.TABLES[name]:
        kind = schema.kind_of(name, column)
        found.setdefault(column, [blank[kind]] * rows)
        if kind == "whole":
            found[column] = [int(value) for value in found[column]]
    return {column: found[column] for column in sorted(schema.TABLES[name])}


def _testbed(arguments: list[str]) -> None:
    asked = _parser().parse_args(arguments)
    content = tomllib.loads(asked.scenario.read_text())
    told = content.setdefault("testbed", {})
    if asked.variant in told.get("refuse", []):
        sys.stderr.write("XCP needs switches of its own\n  hint: leave it out\n")
        sys.exit(2)
    if asked.variant in told.get("fail", []):
        sys.stderr.write("libbpf: noise\ncannot make a namespace: out of memory\n")
        sys.exit(1)
    if told.get("wait"):
        _wait(deaf=told.get("deaf", False))
    _progress(0.5)
    valid = f"{asked.variant}-s{asked.seed}" not in told.get("invalid", [])
    result = output(
        _tables(asked, content),
        valid=valid,
        stretch=asked.stretch,
        gso=not asked.no_gso,
        over_quic=_over_quic(asked),
    )
    result["notes"] = told.get("notes", [])
    asked.output.write_text(json.dumps(result, allow_nan=False))
    _progress(1.0)


def main() -> None:
    arguments = sys.argv[1:]
    with Path("calls.jsonl").open("a") as file:
        file.write(json.dumps(arguments) + "\n")
    if arguments == ["testbed", "--clean"]:
        print("pwt-12-h0")
    elif arguments[0] == "testbed":
        _testbed(arguments[1:])
    else:
        print(*arguments)
        sys.exit(3 if "--force" in arguments else 0)
