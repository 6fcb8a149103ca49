"""The box with an adviser's sentences on the first screen."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def _with_code(sentence: str) -> str:
    """The sentence as HTML: what stands between backquotes is code."""
    parts = escape(sentence).split("`")
    return "".join(
        f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts)
    )


def advice(sentences: Sequence[str]) -> str:
    """The box as HTML; empty, so that nothing shows, where there is nothing to advise."""
    if not sentences:
        return ""
    lines = "".join(f"<li>{_with_code(sentence)}</li>" for sentence in sentences)
    title = "Where the time goes"
    return f'<aside class="advice" aria-label="{title}"><h2>{title}</h2><ul>{lines}</ul></aside>'
