"""One run on disk, so that equal runs give equal bytes and a broken write leaves nothing behind."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pathweave.results import layout
from pathweave.results.jsonfile import read_json, write_json
from pathweave.results.lock import locked
from pathweave.results.shape import check_manifest
from pathweave.results.stored import digest
from pathweave.results.testbed import PlayedOutput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import polars as pl

    from pathweave._core import Column, Variant
    from pathweave.results.output import Output

ROW_GROUP = 262_144
"""Rows in a Parquet row group: fixed, so that bytes depend on the data alone."""

_ATTEMPTS = 8
"""Times that a run tries to take its name while others do the same with an equal one."""


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
    """The version of Pathweave."""
    results_version: str
    """The first version of Pathweave that gives these results."""
    hash: str
    """Of the variant's settings, the seed, and how the backend goes about it."""
    settings: str
    """Hash of the settings that the run shares with others: `Settings.hash`."""
    backend: str = "simulate"


def write_run(
    folder: Path,
    identity: Identity,
    output: Output,
    *,
    optimum: Mapping[str, Any] | None = None,
    notes: Sequence[str] = (),
    machine: str | None = None,
) -> None:
    """Write a run to `folder`, replacing what stood there.

    `optimum` says what the rates of a solved run rest on, `notes` adds to the core's, `machine` is
    the name of the one that made it, this one if None.

    Everything goes to a hidden folder beside it first, the manifest last; then the folder takes
    its name. Raises `OSError` when the disk is full or the folder cannot be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = layout.partial_folder(folder)
    shutil.rmtree(partial, ignore_errors=True)
    try:
        partial.mkdir()
        tables = {
            name: write_table(partial, name, frame(output.tables[name])) for name in output.tables
        }
        for capture in output.captures:
            (partial / layout.capture_file(capture["name"])).write_bytes(capture["pcapng"])
        write_json(partial / layout.TIMING, _timing(output, machine or socket.gethostname()))
        manifest = _manifest(identity, output, tables, notes)
        if optimum is not None:
            manifest["optimum"] = dict(optimum)
        if isinstance(output, PlayedOutput):
            manifest["testbed"] = dict(output.testbed)
        write_json(partial / layout.MANIFEST, manifest)
        with locked(folder.parent):
            take_place(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def is_current(folder: Path, run_hash: str, limit: int | None = None) -> bool:
    """Whether `folder` holds the whole results of the run with this hash.

    An optimum that was cut short counts for a `limit` of problems up to its own.
    """
    try:
        manifest = read_json(folder / layout.MANIFEST)
        check_manifest(folder / layout.MANIFEST, manifest)
    except (OSError, ValueError):
        return False
    optimum = manifest.get("optimum") or {}
    if optimum.get("truncated") and (limit is None or limit > optimum["limit"]):
        return False
    return (
        manifest.get("hash") == run_hash
        and manifest.get("format") == layout.FORMAT
        and damage(folder, manifest) is None
    )


def hash_of(folder: Path) -> str | None:
    """The hash of the run that `folder` holds; None where it holds none."""
    try:
        return read_json(folder / layout.MANIFEST).get("hash")
    except (OSError, ValueError):
        return None


def damage(folder: Path, manifest: Mapping[str, Any]) -> str | None:
    """What in a run's folder is not as its manifest says; None when all is."""
    try:
        tables, captures = manifest["tables"], manifest["captures"]
        files = {layout.table_file(name): about["sha256"] for name, about in tables.items()}
        files |= {layout.capture_file(name): about["sha256"] for name, about in captures.items()}
    except (KeyError, TypeError, AttributeError):
        return f"{folder / layout.MANIFEST} is not the manifest of a run"
    for name, expected in files.items():
        path = folder / name
        try:
            found = digest(path)
        except FileNotFoundError:
            return f"{path} is missing"
        except OSError as error:
            return f"{path} cannot be read: {error.strerror or error}"
        if found != expected:
            return f"{path} is damaged: its content is not what the run wrote"
    return None


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


def write_table(folder: Path, name: str, table: pl.DataFrame) -> dict[str, Any]:
    """Write a table so that equal tables give equal bytes; its number of rows and its digest.

    Raises `OSError` with the file when it cannot be written.
    """
    import polars as pl

    path = folder / layout.table_file(name)
    try:
        table.write_parquet(
            path,
            compression="zstd",
            compression_level=3,
            statistics=True,
            row_group_size=ROW_GROUP,
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise as_os_error(error, path) from error
    return {"rows": table.height, "sha256": digest(path)}


def as_os_error(error: Exception, path: Path) -> OSError:
    """What Polars says of a write that failed, with the number of the error and the file."""
    if isinstance(error, OSError) and error.errno is not None:
        return OSError(error.errno, os.strerror(error.errno), str(path))
    found = re.search(r"os error (\d+)", str(error))
    if found is None:
        return OSError(errno.EIO, str(error), str(path))
    number = int(found[1])
    return OSError(number, os.strerror(number), str(path))


def _manifest(
    identity: Identity,
    output: Output,
    tables: Mapping[str, Mapping[str, Any]],
    notes: Sequence[str],
) -> dict[str, Any]:
    variant = identity.variant
    return {
        "format": layout.FORMAT,
        "pathweave": identity.version,
        "results_version": identity.results_version,
        "backend": identity.backend,
        "hash": identity.hash,
        "settings": identity.settings,
        "results_hash": output.results_hash,
        "scenario": {
            "name": identity.scenario,
            "title": identity.title,
            "size": identity.size,
            "set": list(identity.sets),
        },
        "variant": {
            "label": variant.label,
            "slug": variant.slug,
            "axes": dict(variant.axes),
            "hash": variant.settings_hash,
        },
        "seed": identity.seed,
        "verdict": output.verdict,
        "counters": {"packet_hops": output.packet_hops, **output.counters},
        "notes": [*output.notes, *notes],
        "tables": dict(tables),
        "captures": {
            capture["name"]: {
                "flow": capture["flow"],
                "packets": capture["packets"],
                "sha256": hashlib.sha256(capture["pcapng"]).hexdigest(),
            }
            for capture in output.captures
        },
        "resolved": json.loads(variant.resolved),
    }


def _timing(output: Output, machine: str) -> dict[str, float | str]:
    return {
        "machine": machine,
        "wall_s": output.wall_s,
        "cpu_s": output.cpu_s,
        "peak_rss_mb": output.peak_rss_mb,
        "packet_hops_per_cpu_s": output.packet_hops / output.cpu_s if output.cpu_s > 0 else 0.0,
    }


def take_place(partial: Path, folder: Path) -> None:
    """Give a finished run its name. What others put into the folder before goes with it.

    Holds without a lock, too: another machine may do the same with an equal run at the same time.
    """
    replaced = layout.replaced_folder(folder)
    for _ in range(_ATTEMPTS):
        if folder.exists():
            shutil.rmtree(replaced, ignore_errors=True)
            with suppress(FileNotFoundError):  # another machine has just set it aside
                folder.rename(replaced)
        try:
            _rename(partial, folder)
            break
        except FileExistsError:  # another machine was first
            if replaced.exists():
                clear_replaced(replaced, folder)
        except OSError:
            if replaced.exists():
                replaced.rename(folder)
            raise
    else:
        raise FileExistsError(errno.EEXIST, "other processes keep replacing it", str(folder))
    if replaced.exists():
        clear_replaced(replaced, folder)


def _rename(partial: Path, folder: Path) -> None:
    """Raises `FileExistsError` where a folder with content has the name."""
    try:
        partial.rename(folder)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder)) from error
        raise


def clear_replaced(replaced: Path, folder: Path) -> None:
    """Delete an older run that a newer one in `folder` has replaced, but for the files of others.

    Where there is no newer one, because the process died before it took its name, the older one
    gets its name back.
    """
    if not folder.exists():
        replaced.rename(folder)
        return
    own = own_files(replaced) | own_files(folder)
    for path in replaced.iterdir():
        if path.name not in own:
            path.rename(folder / path.name)
    shutil.rmtree(replaced, ignore_errors=True)


def own_files(folder: Path) -> set[str]:
    """Names of the files that Pathweave writes into the folder of a run."""
    try:
        manifest = read_json(folder / layout.MANIFEST)
        tables, captures = list(manifest["tables"]), list(manifest["captures"])
    except (OSError, ValueError, KeyError, TypeError):
        tables, captures = [], []
    named = {layout.table_file(name) for name in (*tables, *layout.OPTIMUM_TABLES)}
    named |= {layout.capture_file(name) for name in captures}
    return named | {layout.MANIFEST, layout.TIMING, layout.OPTIMUM}
