"""Stands in for the compiled core: the same contract, made-up results.

A scenario file for it is TOML with `title`, `[axes]` (axis = [names]) and `[fake]`: `seconds` of
wall-clock time a run takes, `fail` (labels of variants that fail), `deaf` (cannot be cancelled),
and the fields of `synthetic.Shape`. `[own."<label>"]` holds settings of one variant,
`[phases]` phases. A key `broken` at the top makes it a wrong scenario.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import sys
import time
import tomllib
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import synthetic

VERSION = "0.0.test"
NO_SETTINGS = '{"measure": {"phases": {}}}'
"""A resolved scenario with nothing in it."""


class ScenarioError(ValueError):
    pass


@dataclass
class Output:
    tables: dict[str, dict[str, Any]]
    counters: dict[str, int | float | str]
    results_hash: str
    packet_hops: int
    wall_s: float
    cpu_s: float
    peak_rss_mb: float = 30.0
    verdict: str = "stopped"
    notes: list[str] = field(default_factory=list)
    captures: list[dict[str, Any]] = field(default_factory=list)


class Run:
    most_threads = 1

    def __init__(self, variant: Variant, seed: int) -> None:
        self._variant = variant
        self._seed = seed
        self._began = 0.0
        self._cancelled = False

    def start(self) -> None:
        self._began = time.monotonic()

    def _fraction(self) -> float:
        seconds = self._variant.fake.get("seconds", 0.0)
        return min(1.0, (time.monotonic() - self._began) / seconds) if seconds else 1.0

    def poll(self) -> dict[str, Any]:
        fraction = self._fraction()
        state = "running"
        if self._cancelled:
            state = "cancelled"
        elif fraction >= 1.0:
            state = (
                "failed" if self._variant.label in self._variant.fake.get("fail", []) else "done"
            )
        return {
            "state": state,
            "time_s": 2.0 * fraction,
            "until_s": 2.0,
            "fraction": fraction,
            "packet_hops": int(6e7 * fraction),
            "flows_started": 10,
            "flows_finished": int(10 * fraction),
        }

    def cancel(self) -> None:
        self._cancelled = not self._variant.fake.get("deaf", False)

    def take(self) -> Output:
        variant = self._variant
        if variant.label in variant.fake.get("fail", []):
            raise RuntimeError("packets are not conserved on link h0->s0")
        shape = synthetic.Shape(
            **{k: v for k, v in variant.fake.items() if k not in ("seconds", "fail", "deaf")}
        )
        seconds = max(time.monotonic() - self._began, 1e-3)
        return Output(
            tables=synthetic.tables(variant.axes, self._seed, shape),
            counters={"events": 123_456, "drops": 12, "ended_s": 2.0},
            results_hash=variant.hash(self._seed),
            packet_hops=60_000_000,
            wall_s=seconds,
            cpu_s=seconds,
        )


@dataclass
class Variant:
    axes: dict[str, str]
    label: str
    slug: str
    resolved: str
    fake: dict[str, Any]
    files: ClassVar[dict[str, bytes]] = {}

    @property
    def settings_hash(self) -> str:
        return _digest(_without_names(json.loads(self.resolved)))

    def hash(self, seed: int) -> str:
        return _digest([_without_names(json.loads(self.resolved)), seed])

    def warnings(self, seed: int) -> list[tuple[str, str, str]]:
        return []

    def flow(self, seed: int, solve: object) -> Output:
        raise RuntimeError("a made-up scenario has no traffic")

    def prepare(self, seed: int, threads: int = 1) -> Run:
        return Run(self, seed)


@dataclass
class Scenario:
    name: str
    title: str
    size: str
    sizes: list[str]
    axes: dict[str, list[str]]
    variants: list[Variant]
    seeds: list[int]
    groups: list[str]
    settings: str

    @property
    def settings_hash(self) -> str:
        return _digest(json.loads(self.settings))

    @property
    def sweeps(self) -> list[dict[str, Any]]:
        return []


def _digest(value: Any) -> str:
    return hashlib.sha256((VERSION + json.dumps(value, sort_keys=True)).encode()).hexdigest()


def _without_names(resolved: dict[str, Any]) -> dict[str, Any]:
    phases = resolved["measure"]["phases"]
    kept = {key: value for key, value in resolved.items() if key not in ("title", "report")}
    return kept | {"measure": {"phases": sorted(phases.values())}}


def load(
    path: str,
    size: str | None,
    sets: list[str],
    only: list[str],
    seeds: int | None,
    sweeps: list[str],
) -> Scenario:
    if sweeps:
        raise ScenarioError("a made-up scenario has no sweeps")
    return _load(Path(path).read_text(), path, Path(path).stem, size, sets, only, seeds)


def load_text(
    text: str,
    name: str,
    folder: str,
    size: str | None,
    sets: list[str],
    only: list[str],
    seeds: int | None,
    sweeps: list[str],
) -> Scenario:
    if sweeps:
        raise ScenarioError("a made-up scenario has no sweeps")
    return _load(text, name, name, size, sets, only, seeds)


def _load(
    text: str,
    path: str,
    name: str,
    size: str | None,
    sets: list[str],
    only: list[str],
    seeds: int | None,
) -> Scenario:
    content = tomllib.loads(text)
    if "broken" in content:
        raise ScenarioError(f"{path}:1:1: unknown key `broken`\n  hint: remove it")
    axes: dict[str, list[str]] = content.get("axes", {})
    kept = dict(axes)
    for chosen in only:
        axis, _, variant = chosen.partition("=")
        if axis not in axes or variant not in axes[axis]:
            raise ScenarioError(f"--only {chosen}: there is no such variant")
        kept[axis] = [variant]
    fake = content.get("fake", {})
    shared = {
        "title": content.get("title", ""),
        "report": content.get("report", {}),
        "fake": fake | {"seconds": 0},
        "measure": {"phases": content.get("phases", {})},
        "set": sets,
        "size": size,
    }
    variants = []
    for names in itertools.product(*kept.values()):
        at = dict(zip(kept, names, strict=True))
        label = ", ".join(names)
        own = content.get("own", {}).get(label, {})
        resolved = json.dumps({"axes": at, "own": own} | shared)
        slug = "-".join(names).lower().replace("/", "-") or "run"  # a folder's name, as the core's
        variants.append(Variant(at, label, slug, resolved, fake))
    return Scenario(
        name=name,
        title=content.get("title", ""),
        size=size or "quick",
        sizes=["quick", "paper"],
        axes=axes,
        variants=variants,
        seeds=list(range(1, (seeds or content.get("seeds", 1)) + 1)),
        groups=["large", "request", "answer"],
        settings=json.dumps(_without_names(shared)),
    )


def from_resolved(resolved: str, folder: object = None, files: object = None) -> Scenario:
    """The variant that was resolved to this, alone."""
    value = json.loads(resolved)
    names = list(value["axes"].values())
    variant = Variant(
        value["axes"], ", ".join(names), "-".join(names).lower() or "run", resolved, value["fake"]
    )
    return Scenario("", value["title"], "quick", [], {}, [variant], [1], [], "{}")


def hash_of_resolved(resolved: str, seed: int) -> str:
    """The hash of the variant that was resolved to this."""
    return from_resolved(resolved).variants[0].hash(seed)


def hash_of_settings(settings: str) -> str:
    """The hash of a scenario's settings."""
    return _digest(json.loads(settings))


def module() -> types.ModuleType:
    """The module that takes the place of `pathweave._core`."""
    module = types.ModuleType("pathweave._core")
    module.__dict__.update(
        version=lambda: VERSION,
        results_version=lambda: VERSION,
        schema=lambda: '{"title": "scenario"}',
        controllers=lambda: [
            {
                "name": "xmp",
                "summary": "Constant-factor halving, coupled by TraSh",
                "source": "Cao et al., CoNEXT 2013",
                "coupled": True,
                "explanation": "What it does.\n\n- from the paper\n",
                "parameters": [
                    {"name": "beta", "default": "4", "range": "> 1", "help": "Window cut 1/beta."}
                ],
            }
        ],
        routings=lambda: [{"name": "ecmp", "help": "Hash of addresses and ports."}],
        fabrics=lambda: [{"name": "fat-tree", "help": "k pods of k switches."}],
        patterns=lambda: [{"name": "permutation", "help": "Each host sends to one other."}],
        operations=lambda: [{"name": "all-to-all", "help": "Each rank sends to each other."}],
        distributions=lambda: [{"name": "even", "help": "All alike.", "source": "A paper."}],
        presets=lambda: [{"name": "xmp-2013", "help": "Values of the XMP paper."}],
        ScenarioError=ScenarioError,
        load=load,
        from_resolved=from_resolved,
        hash_of_resolved=hash_of_resolved,
        hash_of_settings=hash_of_settings,
        load_text=load_text,
    )
    return module


def install() -> None:
    """Make `from pathweave import _core` give the fake, in a process of its own."""
    import pathweave

    sys.modules["pathweave._core"] = pathweave.__dict__["_core"] = module()


if __name__ == "__main__":
    install()
    from pathweave.cli.app import main

    main()
