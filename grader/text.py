"""Text from outside, made fit to be shown anywhere."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def printable(text: str) -> str:
    """A text in which every control or formatting character is a replacement character.

    Nothing in it can move a cursor, break a line, reverse the direction of writing, or fail to
    be written as UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def perhaps(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the nearest known one, if any is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; perhaps you meant {near[0]!r}" if near else ""
