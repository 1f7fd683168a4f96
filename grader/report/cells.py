"""Cells of a CSV that no spreadsheet takes for a formula, whichever separators it splits at."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from grader.text import printable

NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?")
# Spreadsheets may split at each of these, whatever the file was written with.
SEPARATORS = re.compile(r"([;,\t\r\n])")
# Besides letters and digits, what a cell may begin with.
HARMLESS_STARTS = frozenset("/._(['")
BLANKS = str.maketrans("\t\r\n", "   ")


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """A table as CSV; cells are made safe."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for row in rows:
        writer.writerow([spreadsheet_safe(cell) for cell in row])
    return stream.getvalue()


def spreadsheet_safe(cell: str) -> str:
    """A cell as it is, if it and every piece of it begins like a word or is a number.

    Another piece gets an apostrophe in front.  Line breaks and tabs become spaces; what else
    cannot be printed, such as a mark that turns the direction of writing, a replacement character.
    """
    safe = "".join(map(_safe_piece, SEPARATORS.split(cell)))
    return printable(safe.translate(BLANKS))


def _safe_piece(piece: str) -> str:
    start = piece.lstrip()
    harmless = not start or start[0].isalnum() or start[0] in HARMLESS_STARTS
    if harmless or SEPARATORS.fullmatch(piece) or NUMBER.fullmatch(start):
        return piece
    return f"{piece[: len(piece) - len(start)]}'{start}"
