"""What a scenario runs on, in one sentence: the fabric and the load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.results.runs import StoredScenario

_COUNTS = {
    "k": "k = {}",
    "leaves": "{} leaves",
    "spines": "{} spines",
    "hosts_per_leaf": "{} hosts per leaf",
    "senders": "{} senders",
    "pairs": "{} pairs of hosts",
    "hosts": "{} hosts",
}
_RATES = ("host_rate", "uplink_rate", "rate", "bottleneck_rate")


def setting_sentence(scenario: StoredScenario) -> str:
    """The fabric and the traffic of all variants; what differs between them is given as a range.

    Empty where the runs say nothing of a fabric.
    """
    resolved = [run.manifest["resolved"] for run in scenario.runs]
    fabrics = [each["fabric"] for each in resolved if isinstance(each.get("fabric"), dict)]
    if not fabrics:
        return ""
    kinds = _several([str(fabric.get("kind", "")) for fabric in fabrics])
    parts = [
        form.format(text)
        for key, form in _COUNTS.items()
        if (text := _values(fabrics, key)) and not text.startswith(("[", "{"))
    ]
    rates = [text for key in _RATES if (text := _values(fabrics, key))]
    parts += [f"links of {' and '.join(dict.fromkeys(rates))}"] if rates else []
    fabric = f"{kinds[:1].upper()}{kinds[1:]} fabric" + (f" ({', '.join(parts)})" if parts else "")
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for each in resolved:
        for group in each.get("traffic", []):
            if group.get("enabled", True):
                groups.setdefault(str(group["name"]), []).append(group)
    loads = [_traffic(name, own) for name, own in groups.items()]
    return f"{fabric} under {_joined(loads)}." if loads else f"{fabric}."


def _traffic(name: str, groups: Sequence[Mapping[str, Any]]) -> str:
    pattern = _several([str(group.get("pattern", "")) for group in groups])
    pattern = pattern.replace("poisson", "Poisson")  # it is a name
    load = _values(groups, "load")
    return f'{pattern} traffic "{name}"' + (f" at load {load}" if load else "")


def _values(tables: Sequence[Mapping[str, Any]], key: str) -> str:
    """The values of a key in words: one, or the first and the last of several."""
    given = [each[key] for each in tables if key in each]
    # A rate for each layer: those that differ.
    parts = [list(each.values()) if isinstance(each, dict) else [each] for each in given]
    found = list(dict.fromkeys(str(value) for part in parts for value in part))
    if len(found) < 2:
        return next(iter(found), "")
    try:
        found.sort(key=float)
    except ValueError:
        return " or ".join(found)
    return f"{found[0]} to {found[-1]}"


def _several(names: Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(names))


def _joined(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
