"""Small CSV files that an instructor writes, with the line of each row and every fault at once."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.errors import TableError
from grader.text import perhaps, printable


@dataclass(frozen=True)
class Row:
    """One line of a table.

    Attributes:
        line: its number in the file.
        cells: by column, without spaces around; empty where nothing stands.
    """

    line: int
    cells: dict[str, str]


def read_table(
    path: Path, columns: Sequence[str], required: Sequence[str], problems: list[str]
) -> list[Row]:
    """Read a table; lines that are empty or begin with `#` are passed over.

    Args:
        path: the file, UTF-8 with commas or semicolons between the cells.
        columns: those that it may have, in any order and case.
        required: those that it must have.
        problems: gets what is wrong with single lines.

    Raises:
        TableError: if it cannot be read or its first line is no header.
    """
    text = _text_of(path)
    first = text.partition("\n")[0]
    separator = ";" if ";" in first and "," not in first else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    header: list[str] = []
    rows = []
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if not any(cells) or cells[0].startswith("#"):
                continue
            if not header:
                header = [cell.lower() for cell in cells]
                _check_header(path, header, columns, required)
            elif any(cells[len(header) :]):
                problems.append(f"line {reader.line_num}: has more cells than the header")
            else:
                named = dict(zip(header, cells, strict=False))  # a short line has empty cells
                rows.append(Row(reader.line_num, {**dict.fromkeys(columns, ""), **named}))
    except csv.Error as error:
        raise TableError(path, [f"line {reader.line_num}: {error}"]) from error
    if not header:
        raise TableError(path, [f"is empty; its first line is {','.join(columns)}"])
    return rows


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise TableError(path, [f"cannot be read: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        raise TableError(path, ["is not UTF-8 text"]) from error


def _check_header(
    path: Path, header: Sequence[str], columns: Sequence[str], required: Sequence[str]
) -> None:
    problems = [
        f"line 1: no such column: {printable(name)}{perhaps(name, columns)}"
        for name in header
        if name not in columns
    ]
    problems += [f"line 1: the column {name} is missing" for name in required if name not in header]
    problems += [
        f"line 1: the column {name} stands twice" for name in columns if header.count(name) > 1
    ]
    if problems:
        raise TableError(path, problems)
