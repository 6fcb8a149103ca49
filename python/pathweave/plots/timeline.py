"""What a scenario does at which time: events as rules, phases as shaded stretches, with names."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl

from pathweave.plots.palette import EVENT_LIGHT, PHASE_LIGHT, WORDS_LIGHT
from pathweave.results.happenings import event_subject
from pathweave.results.units import scale, seconds, time_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pathweave.plots.figure import Spec
    from pathweave.results.runs import StoredRun

_LETTER = 6.3
"""Pixels of a letter of a name, about."""
_NARROW = 290
"""Pixels of the narrowest panel, on a telephone: what has a place there has one everywhere."""
_TOLD = 12
"""Events that a caption names at most."""
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ROWS = {"what": pl.String, "from_s": pl.Float64, "to_s": pl.Float64, "label": pl.String}
"""Columns that rows of a chart's data have for this, beside `panel`."""


@dataclass(frozen=True)
class Event:
    """Something that happens to links or nodes."""

    at_s: float
    text: str


@dataclass(frozen=True)
class Phase:
    """A stretch of time with a name."""

    start_s: float
    end_s: float
    name: str


def events(run: StoredRun) -> list[Event]:
    """What happens to the fabric in a run, in the order of time."""
    found = run.manifest["resolved"].get("events", [])
    return sorted((_event(each) for each in found), key=lambda event: (event.at_s, event.text))


def phases(run: StoredRun) -> list[Phase]:
    """The phases of a run by the names that the scenario has for them now, in order of time."""
    found: Mapping[str, Sequence[str]] = (
        run.manifest["resolved"].get("measure", {}).get("phases", {})
    )
    named = [
        Phase(seconds(times[0]), seconds(times[1]), run.phases.get(name, name))
        for name, times in found.items()
    ]
    return sorted(named, key=lambda phase: (phase.start_s, phase.end_s, phase.name))


def _event(said: Mapping[str, Any]) -> Event:
    words = ["down"] if said.get("down") else []
    words += ["up"] if said.get("up") else []
    words += [f"at {said['rate']}"] if "rate" in said else []
    words += [f"loses {100 * float(said['loss']):g} %"] if "loss" in said else []
    return Event(seconds(str(said["at"])), f"{event_subject(said)} {', '.join(words)}")


@dataclass(frozen=True)
class Timeline:
    """Rows for a chart's data, and what its caption has to say of them."""

    rows: pl.DataFrame
    """Columns `panel` and those of `ROWS`; `what` is "event" or "phase"."""
    note: str

    def among(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of `frame` and those of this, for its panels."""
        own = self.rows.filter(pl.col("panel").is_in(frame["panel"].unique().to_list()))
        return pl.concat([frame, own], how="diagonal")

    def among_rows(self, frame: pl.DataFrame, owners: Sequence[str]) -> pl.DataFrame:
        """The same for a grid with a row of panels for each of `owners`, a column a `variant`.

        Names stand above the first row alone.
        """
        own = self.rows.filter(pl.col("panel").is_in(frame["variant"].unique().to_list()))
        parts = [frame]
        for place, owner in enumerate(owners):
            label = pl.col("label") if place == 0 else pl.lit(None, pl.String).alias("label")
            named = own.rename({"panel": "variant"}).with_columns(label, owner=pl.lit(owner))
            parts.append(named)
        return pl.concat(parts, how="diagonal")


def timeline(
    runs: Mapping[str, Sequence[StoredRun]], start_s: float, end_s: float, width: int
) -> Timeline:
    """What happens in the panels' runs from `start_s` to `end_s`.

    `width` is that of a panel in pixels. Names stand in the chart where they have a place,
    otherwise letters and numbers that the note explains.
    """
    all_events: dict[str, list[Event]] = {}
    all_phases: dict[str, list[Phase]] = {}
    for panel, own in runs.items():
        happened = sorted({event for run in own for event in events(run)}, key=_when)
        all_events[panel] = [event for event in happened if start_s <= event.at_s <= end_s]
        stretches = sorted({phase for run in own for phase in phases(run)}, key=_since)
        inside = [_within(phase, start_s, end_s) for phase in stretches]
        all_phases[panel] = [phase for phase in inside if phase.end_s > phase.start_s]
    pixels = min(width, _NARROW) / max(end_s - start_s, 1e-12)
    event_labels, event_note = _event_labels(all_events, pixels, end_s)
    phase_labels, phase_note = _phase_labels(all_phases, pixels)
    rows: list[dict[str, Any]] = []
    for panel in runs:
        for place, phase in enumerate(all_phases[panel]):
            rows.append(
                {
                    "panel": panel,
                    "what": "phase" if place % 2 == 0 else "pause",
                    "from_s": phase.start_s,
                    "to_s": phase.end_s,
                    "label": phase_labels[phase],
                }
            )
        seen: dict[float, list[str]] = {}
        for event in all_events[panel]:
            seen.setdefault(event.at_s, []).append(event_labels[event])
        for at, labels in seen.items():
            label = ", ".join(labels)
            rows.append({"panel": panel, "what": "event", "from_s": at, "label": label})
    frame = pl.DataFrame(rows, schema={"panel": pl.String, **ROWS})
    return Timeline(frame, " ".join(note for note in (phase_note, event_note) if note))


def _when(event: Event) -> tuple[float, str]:
    return event.at_s, event.text


def _since(phase: Phase) -> tuple[float, float, str]:
    return phase.start_s, phase.end_s, phase.name


def _within(phase: Phase, start_s: float, end_s: float) -> Phase:
    return Phase(max(phase.start_s, start_s), min(phase.end_s, end_s), phase.name)


def _event_labels(
    found: Mapping[str, Sequence[Event]], pixels: float, end_s: float
) -> tuple[dict[Event, str], str]:
    """A name for each event, and the note; numbers where one name would run into the next."""
    every = sorted({event for own in found.values() for event in own}, key=_when)
    if not every:
        return {}, ""
    ends = [*(event.at_s for event in every[1:]), end_s]
    fits = all(
        (end - event.at_s) * pixels >= _LETTER * (len(event.text) + 1)
        for event, end in zip(every, ends, strict=True)
    )
    if fits:
        return {event: event.text for event in every}, ""
    labels = {event: str(place) for place, event in enumerate(every, start=1)}
    said = [f"{label}: {event.text}, {_moment(event.at_s)}" for event, label in labels.items()]
    left = len(said) - _TOLD
    more = [f"and {left} more"] if left > 0 else []
    return labels, f"Events: {'; '.join([*said[:_TOLD], *more])}."


def _phase_labels(
    found: Mapping[str, Sequence[Phase]], pixels: float
) -> tuple[dict[Phase, str], str]:
    every = sorted({phase for own in found.values() for phase in own}, key=_since)
    if not every:
        return {}, ""
    fits = all(
        (phase.end_s - phase.start_s) * pixels >= _LETTER * (len(phase.name) + 1) for phase in every
    )
    overlap = any(
        one.end_s > two.start_s + 1e-12 for own in found.values() for one, two in pairwise(own)
    )
    if fits and not overlap:
        return {phase: phase.name for phase in every}, ""
    labels = {phase: _letters(place) for place, phase in enumerate(every)}
    said = [f"{label}: {phase.name}, {_stretch(phase)}" for phase, label in labels.items()]
    return labels, f"Phases: {'; '.join(said)}."


def _letters(place: int) -> str:
    return _LETTERS[place % 26] * (1 + place // 26)


def _stretch(phase: Phase) -> str:
    start, end = _moment(phase.start_s), _moment(phase.end_s)
    same_unit = start.split()[-1] == end.split()[-1]
    return f"{start.split()[0] if same_unit else start} to {end}"


def _moment(at_s: float) -> str:
    unit = time_unit(at_s)
    return f"{at_s / scale(unit):.6g} {unit}"


def behind(x: Spec) -> list[Spec]:
    """Layers of the phases' shades, to be drawn first."""
    return [
        {
            "mark": {"type": "rect", "color": PHASE_LIGHT, "tooltip": None},
            "transform": [{"filter": "datum.what === 'phase'"}],
            "encoding": {"x": _at(x, "from_s"), "x2": {"field": "to_s"}},
        }
    ]


def before(x: Spec) -> list[Spec]:
    """Layers of the events' rules and of all names, to be drawn last."""
    text = {"type": "text", "align": "left", "baseline": "top", "dx": 4, "fontSize": 11}
    return [
        {
            "mark": {"type": "rule", "color": EVENT_LIGHT, "strokeWidth": 1.2},
            "transform": [{"filter": "datum.what === 'event'"}],
            "encoding": {"x": _at(x, "from_s")},
        },
        {
            "mark": {**text, "color": EVENT_LIGHT, "dy": 2},
            "transform": [{"filter": "datum.what === 'event' && isValid(datum.label)"}],
            "encoding": {
                "x": _at(x, "from_s"),
                "y": {"value": 0},
                "text": {"field": "label", "type": "nominal"},
            },
        },
        {
            "mark": {**text, "color": WORDS_LIGHT, "dy": -13},
            "transform": [{"filter": "test(/phase|pause/, datum.what) && isValid(datum.label)"}],
            "encoding": {
                "x": _at(x, "from_s"),
                "y": {"value": 0},
                "text": {"field": "label", "type": "nominal"},
            },
        },
    ]


def _at(x: Spec, field: str) -> Spec:
    return {**x, "field": field}
