"""Text from outside, made fit to be shown anywhere."""

from __future__ import annotations


def printable(text: str) -> str:
    """A text in which every control or formatting character is a replacement character.

    Nothing in it can move a cursor, break a line, reverse the direction of writing, or fail to
    be written as UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
