"""`pathweave explain` knows every key of a scenario, and what is not implemented."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pathweave.absent import ABSENT
from pathweave.core import core
from pathweave.errors import InputError
from pathweave.scenario_keys import keys_called, scenario_keys
from pathweave.topics import explain

if TYPE_CHECKING:
    from collections.abc import Iterator


def names(schema: Any) -> Iterator[str]:
    """The names of all properties anywhere in a schema, but those of conditions."""
    if isinstance(schema, list):
        for each in schema:
            yield from names(each)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key == "properties":
            yield from (name for name, own in value.items() if own is not False)
            for own in value.values():
                yield from names(own)
        elif key not in ("if", "examples", "default"):
            yield from names(value)


def test_every_key_of_the_schema_is_explained() -> None:
    schema = json.loads(core().schema())
    del schema["$defs"]["SweptKey"]  # keys of ranges, which docs/sweeps.md has
    schema["properties"]["sweep"] = {}
    known = sorted(set(names(schema)))
    assert len(known) > 150
    for name in known:
        topics = [topic for topic in explain(name).topics if topic.kind == "key"]
        assert topics, name
        for topic in topics:
            assert topic.about["type"], name
            assert topic.about["help"], name
            assert topic.about["places"], name
            assert all(
                line == line.rstrip() and len(line) <= 78 for line in topic.explanation.splitlines()
            )
    assert {key.name for key in scenario_keys()} == set(known)


def test_a_key_has_type_range_default_and_places() -> None:
    (high,) = keys_called("high")
    assert (high.type, high.default) == ("a number", "0.8")
    assert [str(place) for place in high.places] == [
        'fabric.host_queue.mark.high (with kind = "proportional")',
        'fabric.layer_queue.NAME.mark.high (with kind = "proportional")',
        'fabric.queue.mark.high (with kind = "proportional")',
    ]
    text = str(explain("minimum_rto"))
    assert "Smallest retransmission timeout." in text
    assert "Type: a time: a number and ps, ns, us, ms or s" in text
    assert "Default: the preset's" in text
    assert "traffic.NAME.transport.minimum_rto" in text
    assert "  or transport.minimum_rto" in text
    (beta,) = [topic for topic in explain("beta").topics if "cubic" in str(topic.about["places"])]
    assert "Range: from 0.5 to 0.99" in beta.explanation
    assert "Default: 0.7" in beta.explanation


@pytest.mark.parametrize(
    ("asked", "places"),
    [
        ("fabric.queue.mark.k", ["fabric.queue.mark.k"]),
        ("layer_queue.core.limit", ["fabric.layer_queue.NAME.limit"]),
        ("traffic.web.load", ["traffic.NAME.load", "traffic.NAME.load"]),
        ("stop.limit", ["stop.limit"]),
    ],
)
def test_tables_before_a_key_say_which_is_meant(asked: str, places: list[str]) -> None:
    found = [".".join(place.path) for key in keys_called(asked) for place in key.places]
    assert found == places


def test_what_is_not_implemented_says_what_is_nearest() -> None:
    for each in ABSENT:
        for name in each.names:
            text = str(explain(name.upper()))
            assert text.startswith(f"{name} (not implemented)\n"), name
            assert "Nearest:" in text
            assert max(len(line) for line in text.splitlines()) <= 78
    assert "pause" in str(explain("priority-flow-control"))


def test_what_nobody_knows_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean"):
        explain("detection_dely")
