"""How far a report is, told to whoever wants to know."""

from __future__ import annotations


class Steps:
    """Listens to a report that is being made; this one tells nobody."""

    def reading(self, heading: str, place: int, scenarios: int) -> None:
        """The results of a scenario are read, the `place`-th of `scenarios`."""

    def drawn(self, done: int, charts: int) -> None:
        """`done` of `charts` charts are drawn and written."""
