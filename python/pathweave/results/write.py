"""One run on disk, so that equal runs give equal bytes and a broken write leaves nothing behind."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.results import layout
from pathweave.results.jsonfile import read_json, write_json
from pathweave.results.testbed import PlayedOutput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from pathweave._core import Column, Variant
    from pathweave.results.output import Output

ROW_GROUP = 262_144
"""Rows in a Parquet row group: fixed, so that bytes depend on the data alone."""


@dataclass(frozen=True)
class Identity:
    """What a run is of; together with the output this is all that goes into its manifest."""

    scenario: str
    title: str
    size: str
    sets: tuple[str, ...]
    variant: Variant
    seed: int
    version: str
    hash: str
    backend: str = "simulate"


def write_run(
    folder: Path,
    identity: Identity,
    output: Output,
    *,
    optimum: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write a run to `folder`, replacing what stood there.

    `optimum` says what the rates of a solved run rest on, `notes` adds to the core's.

    Everything goes to a hidden folder beside it first, the manifest last; then the folder takes
    its name. Raises `OSError` when the disk is full or the folder cannot be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = layout.partial_folder(folder)
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
        rows = {
            name: write_table(partial, name, frame(output.tables[name])) for name in output.tables
        }
        for capture in output.captures:
            (partial / layout.capture_file(capture["name"])).write_bytes(capture["pcapng"])
        write_json(partial / layout.TIMING, _timing(output))
        manifest = _manifest(identity, output, rows, notes)
        if optimum is not None:
            manifest["optimum"] = dict(optimum)
        if isinstance(output, PlayedOutput):
            manifest["testbed"] = dict(output.testbed)
        write_json(partial / layout.MANIFEST, manifest)
        _take_place(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def is_current(folder: Path, run_hash: str, limit: int | None = None) -> bool:
    """Whether `folder` holds the whole results of the run with this hash.

    An optimum that was cut short counts for a `limit` of problems up to its own.
    """
    try:
        manifest = read_json(folder / layout.MANIFEST)
    except (OSError, ValueError):
        return False
    optimum = manifest.get("optimum") or {}
    if optimum.get("truncated") and (limit is None or limit > optimum["limit"]):
        return False
    tables = manifest.get("tables")
    captures = manifest.get("captures", {})
    return (
        manifest.get("hash") == run_hash
        and manifest.get("format") == layout.FORMAT
        and isinstance(tables, dict)
        and all(layout.is_whole(folder / f"{name}.parquet") for name in tables)
        and all((folder / layout.capture_file(name)).is_file() for name in captures)
    )


def frame(columns: Mapping[str, Column]) -> pl.DataFrame:
    """A polars frame of one table of the core; what is not a number (NaN) becomes null."""
    import polars as pl

    series = [
        pl.Series(name, values, dtype=pl.String)
        if isinstance(values, list)
        else pl.Series(name, values, nan_to_null=True)
        for name, values in columns.items()
    ]
    return pl.DataFrame(series)


def write_table(folder: Path, name: str, table: pl.DataFrame) -> int:
    """Write a table so that equal tables give equal bytes; its number of rows."""
    table.write_parquet(
        folder / f"{name}.parquet",
        compression="zstd",
        compression_level=3,
        statistics=True,
        row_group_size=ROW_GROUP,
    )
    return table.height


def _manifest(
    identity: Identity, output: Output, rows: Mapping[str, int], notes: Sequence[str]
) -> dict[str, Any]:
    variant = identity.variant
    return {
        "format": layout.FORMAT,
        "pathweave": identity.version,
        "backend": identity.backend,
        "hash": identity.hash,
        "results_hash": output.results_hash,
        "scenario": {
            "name": identity.scenario,
            "title": identity.title,
            "size": identity.size,
            "set": list(identity.sets),
        },
        "variant": {"label": variant.label, "slug": variant.slug, "axes": dict(variant.axes)},
        "seed": identity.seed,
        "verdict": output.verdict,
        "counters": {"packet_hops": output.packet_hops, **output.counters},
        "notes": [*output.notes, *notes],
        "tables": dict(rows),
        "captures": {
            capture["name"]: {"flow": capture["flow"], "packets": capture["packets"]}
            for capture in output.captures
        },
        "resolved": json.loads(variant.resolved),
    }


def _timing(output: Output) -> dict[str, float]:
    return {
        "wall_s": output.wall_s,
        "cpu_s": output.cpu_s,
        "peak_rss_mb": output.peak_rss_mb,
        "packet_hops_per_cpu_s": output.packet_hops / output.cpu_s if output.cpu_s > 0 else 0.0,
    }


def _take_place(partial: Path, folder: Path) -> None:
    if folder.exists():
        replaced = layout.replaced_folder(folder)
        shutil.rmtree(replaced, ignore_errors=True)
        folder.rename(replaced)
        partial.rename(folder)
        shutil.rmtree(replaced, ignore_errors=True)
    else:
        partial.rename(folder)
