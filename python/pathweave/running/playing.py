"""How the testbed plays a scenario."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Playing:
    """What a user asked of the testbed."""

    stretch: int = 1
    """By how much it slows time down."""
    gso: bool = True
    """Whether hosts send bundles of packets, by segmentation offload, or packet by packet."""
    controllers: tuple[str, ...] = ()
    """Traffic groups that play with a control of the kernel's own: "group=name"."""
    transports: tuple[str, ...] = ()
    """Which groups QUIC plays: "quic" for all that are multipath, "group=quic", "group=tcp"."""

    @property
    def options(self) -> list[str]:
        """The words of a command line that ask for it."""
        words = ["--stretch", str(self.stretch)] if self.stretch != 1 else []
        words += [] if self.gso else ["--no-gso"]
        for text in self.controllers:
            words += ["--controller", text]
        for text in self.transports:
            words += ["--transport", text]
        return words

    @property
    def words(self) -> tuple[str, ...]:
        """What a folder of its results is called after: "stretch10", "no-gso", "small=bbr"."""
        return (
            *([f"stretch{self.stretch}"] if self.stretch != 1 else []),
            *([] if self.gso else ["no-gso"]),
            *sorted(self.controllers),
            *sorted(self.transports),
        )

    @property
    def key(self) -> str:
        """What tells it from others, whatever the order of the groups."""
        words = [str(self.stretch), *sorted(self.controllers), *([] if self.gso else ["no-gso"])]
        words += [f"transport {text}" for text in sorted(self.transports)]
        return " ".join(words)
