"""Text from outside, made fit to be shown anywhere."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

# Everything but line breaks, tabs and what can be printed of ASCII.
UNUSUAL = re.compile(r"[^\n\t -~]+")


def printable(text: str) -> str:
    """A text in which every control or formatting character is a replacement character.

    Nothing in it can move a cursor, break a line, reverse the direction of writing, or fail to
    be written as UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def visible(text: str) -> str:
    r"""A text of several lines in which every other control or formatting character can be seen.

    Line breaks and tabs stay; an escape becomes the four characters `\x1b`.
    """
    return UNUSUAL.sub(lambda found: "".join(map(_visible, found[0])), text)


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def perhaps(word: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown word: the nearest known one, if any is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; perhaps you meant {near[0]!r}" if near else ""
