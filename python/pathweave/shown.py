r"""Texts from elsewhere, as they may be shown: nothing in them moves a cursor or turns a line.

Control characters can rewrite what a terminal shows, and bidirectional marks can make a text read
otherwise than it is, in a page too. They are shown as escapes, "\x1b" and "\u202e".
"""

from __future__ import annotations

import re
from typing import Final

MOST: Final = 2048
"""Characters of a message that are shown, about."""
_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
"""Controls but for tab and line feed, bidirectional marks, separators of lines, halves of
characters, tags."""
_IN_JSON: Final = re.compile(
    r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u([0-9a-f]{4})|\\([bfr])|\\."
)
"""Escapes of JSON: whole characters of two halves, others by number, those with letters that
`visible` escapes, and whatever else."""
_BY_LETTER: Final = {"b": "\b", "f": "\f", "r": "\r"}


def visible(text: str) -> str:
    """The text with escapes in place of what would not be seen, or would change what is seen."""
    return _HIDDEN.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible_json(text: str) -> str:
    """A JSON text whose strings show what `visible` would; texts that are read again change."""
    return _HIDDEN.sub(lambda found: f"\\{_escape(found)}", _IN_JSON.sub(_unescaped, text))


def _unescaped(found: re.Match[str]) -> str:
    """The character itself where an escape of JSON stands for one that is hidden."""
    if found[1] is not None:
        character = chr(int(found[1], 16))
    elif found[2] is not None:
        character = _BY_LETTER[found[2]]
    else:
        return found[0]
    return character if _HIDDEN.match(character) else found[0]


def json_escaped(text: str) -> str:
    """A JSON text with escapes of JSON in place of what is hidden: its strings stay the same."""
    return _HIDDEN.sub(lambda found: json_escape(found[0]), text)


def json_escape(character: str) -> str:
    """One character as JSON escapes it."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def in_page(value: object) -> object:
    """What a template writes into a page: texts as they may be shown, whatever else as it is.

    Texts that are marked as parts of the page are ours.
    """
    return visible(value) if type(value) is str else value


def cut(text: str, most: int = MOST) -> str:
    """The beginning of a text that is too long, with a note of how much is missing."""
    if len(text) <= most:
        return text
    return f"{text[:most]} ... ({len(text) - most:,} more characters)"


def message(text: str) -> str:
    """A message as it may be printed."""
    return cut(visible(text))
