"""The JSON Schema of scenario files: it accepts what the core does; messages name the key."""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pathweave.core import core

ROOT = Path(__file__).parent.parent
SCENARIOS = sorted(
    path
    for folder in ("papers", "benches", "validation")
    for path in (ROOT / folder).rglob("*.toml")
    if "fabric" in tomllib.loads(path.read_text())
)
SOUND: dict[str, Any] = {
    "title": "sound",
    "fabric": {
        "kind": "dumbbell",
        "left": 2,
        "bottleneck_rate": "1 Gbps",
        "bottleneck_delay": "50 us",
        "queue": {"limit": 100, "mark": {"kind": "step", "k": 10}},
    },
    "routing": {"kind": "ecmp", "distinct": True},
    "transport": {"preset": "linux", "initial_ssthresh": "none"},
    "traffic": [
        {
            "name": "large",
            "pattern": "permutation",
            "size": {"kind": "uniform", "min": "1 KB", "max": "2 KB"},
            "controller": {"name": "xmp", "beta": 4},
        },
        {
            "name": "short",
            "pattern": "poisson",
            "pairs": {"permutation": "all", "part": [8, 16]},
            "flows_per_second": 100,
            "size": "70 KB",
            "controller": "reno",
        },
    ],
    "stop": {"at": "10 ms"},
    "variants": {"scheme": {"DCTCP": {"traffic.large.controller": "dctcp"}}},
}


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json.loads(core().schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: str(path.relative_to(ROOT)))
def test_accepts_every_scenario_there_is(
    validator: jsonschema.Draft202012Validator, path: Path
) -> None:
    # Groups of which each variant gives a part are whole only in the core's eyes.
    found = [
        f"{error.json_path}: {error.message}"
        for error in validator.iter_errors(tomllib.loads(path.read_text()))
        if "is a required property" not in error.message
    ]
    assert found == []


def test_accepts_what_is_sound(validator: jsonschema.Draft202012Validator) -> None:
    assert [error.message for error in validator.iter_errors(SOUND)] == []


SWEEPS: list[dict[str, Any]] = [
    {"fabric.queue.mark.k": [10, 20], "traffic.large.size": ["1 KB"]},
    {"fabric": {"queue": {"mark.k": {"from": 1, "to": 9, "count": 3, "scale": "log"}}}},
    {"fabric.queue.mark": {"from": [1, 2], "to": {"from": 5, "to": 9, "step": 2}}},
    {"fabric.bottleneck_delay": {"from": "1 us", "to": "1 ms", "factor": 10}},
    {"together": {"b": {"fabric.queue.limit": [1, 2], "fabric.queue.mark.k": [1, 2]}}},
]


@pytest.mark.parametrize("sweep", SWEEPS, ids=str)
def test_accepts_sweeps(validator: jsonschema.Draft202012Validator, sweep: dict[str, Any]) -> None:
    scenario = {**SOUND, "sweep": sweep}
    assert [error.message for error in validator.iter_errors(scenario)] == []


MISTAKES: list[tuple[str, Any, str, str]] = [
    # where, what, the place that the message is about, what it says
    ("fabric.kind", "dumbell", "$.fabric.kind", "'dumbell' is not one of ['dumbbell'"),
    ("fabric.lefft", 2, "$.fabric", "'lefft' is not one of ["),
    ("fabric.k", 4, "$.fabric", "'k' is not one of ["),
    ("fabric.left", "two", "$.fabric.left", "'two' is not of type 'integer'"),
    ("fabric.bottleneck_rate", "1 Gb", "$.fabric.bottleneck_rate", "'1 Gb' does not match"),
    ("fabric.bottleneck_rate", None, "$.fabric", "'bottleneck_rate' is a required property"),
    ("fabric.queue.limt", 3, "$.fabric.queue", "'limt' was unexpected"),
    ("fabric.queue.limit", [3], "$.fabric.queue.limit", "is not of type 'number', 'string'"),
    ("fabric.queue.mark.kind", "steep", "$.fabric.queue.mark.kind", "'steep' is not one of"),
    ("fabric.queue.mark.high", 1, "$.fabric.queue.mark", "'high' is not one of ["),
    ("routing.kind", "ospf", "$.routing.kind", "'ospf' is not one of ['ecmp'"),
    ("transport.initial_ssthresh", "lots", "$.transport.initial_ssthresh", "'lots' does not match"),
    ("transport.recovery", "tahoe", "$.transport.recovery", "'tahoe' is not one of ['"),
    ("traffic.0.pattern", "insect", "$.traffic[0].pattern", "'insect' is not one of"),
    ("traffic.0.jobs", 3, "$.traffic[0]", "'jobs' is not one of ["),
    ("traffic.1.pairs.part", [8], "$.traffic[1].pairs.part", "[8] is too short"),
    ("traffic.1.pairs.part", "8", "$.traffic[1].pairs.part", "'8' is not of type 'array'"),
    ("traffic.1.pairs.hosts", "all", "$.traffic[1].pairs", "'hosts' was unexpected"),
    ("traffic.0.size", "1 GBit", "$.traffic[0].size", "'1 GBit' does not match"),
    ("traffic.0.size.max", 5, "$.traffic[0].size.max", "5 is not of type 'string'"),
    ("traffic.0.controller", "xmpp", "$.traffic[0].controller", "'xmpp' is not one of ['reno'"),
    ("traffic.0.controller.name", "xmpp", "$.traffic[0].controller.name", "'xmpp' is not one of"),
    ("traffic.0.controller.betta", 4, "$.traffic[0].controller", "'betta' is not one of ["),
    ("traffic.0.controller.beta", "four", "$.traffic[0].controller.beta", "'four' is not of type"),
    ("stop.att", "1 s", "$.stop", "'att' was unexpected"),
    ("seed", "one", "$.seed", "'one' is not of type 'integer', 'array'"),
    ("variants.scheme.DCTCP.trafic.x", 1, "$.variants.scheme.DCTCP", "'trafic' does not match"),
    ("variants.scheme.DCTCP.title", "x", "$.variants.scheme.DCTCP", "'title' does not match"),
    ("trafic", [], "$", "'trafic' was unexpected"),
    ("sweep.fabrik", [1], "$.sweep", "'fabrik' does not match"),
    ("sweep.title", ["a"], "$.sweep", "'title' does not match"),
    ("sweep.fabric", [], "$.sweep.fabric", "[] should be non-empty"),
    ("sweep.fabric", 3, "$.sweep.fabric", "3 is not of type 'array', 'object'"),
    ("sweep.fabric.k", [[1]], "$.sweep.fabric.k[0]", "[1] is not of type 'number'"),
    ("sweep.fabric.k", {"from": 1}, "$.sweep.fabric.k", "'to' is a required property"),
    ("sweep.fabric.k.form", 1, "$.sweep.fabric.k.form", "1 is not of type 'array', 'object'"),
    ("sweep.fabric.k.scale", "ln", "$.sweep.fabric.k.scale", "'ln' does not match"),
    ("sweep.together.b.fabrik", [1], "$.sweep.together.b", "'fabrik' does not match"),
]


@pytest.mark.parametrize(("where", "value", "place", "said"), MISTAKES)
def test_a_message_names_the_key(
    validator: jsonschema.Draft202012Validator, where: str, value: Any, place: str, said: str
) -> None:
    scenario: Any = copy.deepcopy(SOUND)
    *above, last = where.split(".")
    table = scenario
    for step in above:
        table = table[int(step)] if isinstance(table, list) else table.setdefault(step, {})
    if value is None:
        del table[last]
    else:
        table[last] = value
    found = [(error.json_path, error.message) for error in validator.iter_errors(scenario)]
    assert [at for at, message in found if said in message] == [place], found
    assert len(found) == 1, found


def test_no_alternatives_are_left_that_name_no_key() -> None:
    def walk(value: Any, where: str) -> list[str]:
        if isinstance(value, list):
            return [left for at, item in enumerate(value) for left in walk(item, f"{where}/{at}")]
        if not isinstance(value, dict):
            return []
        own = [where for key in ("oneOf", "anyOf") if key in value]
        return own + [left for key, item in value.items() for left in walk(item, f"{where}/{key}")]

    assert walk(json.loads(core().schema()), "") == []


def test_its_examples_are_valid(validator: jsonschema.Draft202012Validator) -> None:
    schema = json.loads(core().schema())
    for key, about in schema["properties"].items():
        for example in about.get("examples", []):
            scenario = {**SOUND, key: example}
            assert [error.message for error in validator.iter_errors(scenario)] == [], key
    with_examples = {key for key, about in schema["properties"].items() if "examples" in about}
    assert {"fabric", "traffic", "variants", "sizes", "stop", "record"} <= with_examples


def test_editors_are_told_of_parameters() -> None:
    schema = json.loads(core().schema())
    cases = schema["$defs"]["Controller"]["allOf"][1]["then"]["allOf"]
    by_name = {case["if"]["properties"]["name"]["const"]: case["then"] for case in cases}
    for entry in core().controllers():
        properties = by_name[entry["name"]]["properties"]
        assert set(properties) == {parameter["name"] for parameter in entry["parameters"]}
        for parameter in entry["parameters"]:
            assert properties[parameter["name"]]["description"] == parameter["help"]
