"""What events are called in charts and traces."""

from __future__ import annotations

from pathweave.results.happenings import event_subject


def test_an_event_is_called_by_its_links() -> None:
    assert event_subject({"link": "A-B#2", "down": True}) == "A-B#2"
    assert event_subject({"node": ["spine0", "spine1"], "down": True}) == "spine0, spine1"
    assert event_subject({"layer": "core", "rate": "1 Gbps"}) == "core"
    assert event_subject({"link": [f"A-B{n}" for n in range(8)]}) == "A-B0 and 7 more"
