"""The box with an adviser's sentences on the first screen."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def advice(sentences: Sequence[str]) -> str:
    """The box as HTML; empty, so that nothing shows, where there is nothing to advise."""
    if not sentences:
        return ""
    lines = "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)
    title = "Where the time goes"
    return f'<aside class="advice" aria-label="{title}"><h2>{title}</h2><ul>{lines}</ul></aside>'
