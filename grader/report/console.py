"""What the terminal shows: progress, the table of a class, one student's feedback."""

from __future__ import annotations

import io
import sys
import textwrap
import time
from collections.abc import Sequence
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from grader.model import CriterionScore, Scorecard
from grader.report.feedback import own_lines, points, shared_lines, verdict_word
from grader.rubric import Rubric
from grader.text import printable

WIDTH = 80
PLAIN_INTERVAL_SECONDS = 10.0


class RateColumn(ProgressColumn):
    """Submissions per second so far."""

    def render(self, task: Task) -> Text:
        """Show the rate, or nothing while it is unknown."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.1f}/s" if speed else "")


class ClassProgress:
    """Progress of a class: a bar on a terminal, now and then a line elsewhere.

    What is up to date already counts neither for the rate nor for the time that is left.

    Args:
        total: submissions in all.
        stream: where to show it.
    """

    def __init__(self, total: int, stream: TextIO = sys.stderr) -> None:
        self._total = total
        self._done = self._up_to_date = 0
        self._stream = stream
        self._started = self._last_line = time.monotonic()
        self._progress = Progress(
            TextColumn("Grading"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            RateColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=console(stream),
            disable=not stream.isatty(),
            transient=True,
        )
        self._task = self._progress.add_task("", total=total)

    def __enter__(self) -> ClassProgress:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    @property
    def done(self) -> int:
        """Submissions that are done or up to date."""
        return self._done + self._up_to_date

    def advance(self, new: bool = True) -> None:
        """One more submission is done.

        Args:
            new: whether it was examined; else it is up to date already.
        """
        if not new:
            self._up_to_date += 1
            left = self._total - self._up_to_date
            told = f"{self._up_to_date} up to date"
            self._progress.update(self._task, total=left, description=told)
            return
        self._done += 1
        self._progress.advance(self._task)
        now = time.monotonic()
        if not self._stream.isatty() and now - self._last_line >= PLAIN_INTERVAL_SECONDS:
            self._last_line = now
            rate = self._done / (now - self._started)
            total = self._total - self._up_to_date
            seconds = (total - self._done) / rate
            line = f"graded {self._done} of {total}, {rate:.1f}/s, {seconds:.0f} s left"
            told = f" ({self._up_to_date} up to date)" if self._up_to_date else ""
            self._stream.write(line + told + "\n")
            self._stream.flush()


def console(stream: TextIO) -> Console:
    """A console that uses colour only on a terminal and never more than 80 columns."""
    terminal = stream.isatty()
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")  # a terminal that knows no check mark shows `?`
    found = Console(file=stream, highlight=False, soft_wrap=False, no_color=not terminal)
    if not terminal or found.width > WIDTH:
        found.width = WIDTH
    return found


def class_table(cards: Sequence[Scorecard], rubric: Rubric) -> Table:
    """The class at a glance, one line for each student."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("student", no_wrap=True, max_width=24)
    for milestone in rubric.milestones:
        table.add_column(milestone.id, justify="right", no_wrap=True)
    late = any(card.late and card.late.taken for card in cards)
    if late:
        table.add_column("late", justify="right", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("status", no_wrap=True)
    for card in cards:
        scored = [points(m.score) if card.score is not None else "-" for m in card.milestones]
        scored += ["-"] * (len(rubric.milestones) - len(scored))
        if late:
            scored.append(f"-{points(card.late.taken)}" if card.late and card.late.taken else "")
        total = points(card.score) if card.score is not None else "-"
        style = "" if card.status == "graded" else "yellow"
        table.add_row(Text(card.student), *scored, total, Text(card.status, style=style))
    table.add_section()
    most = [points(float(milestone.points)) for milestone in rubric.milestones]
    most += [""] if late else []
    table.add_row("of", *most, points(float(rubric.points)), "", style="dim")
    return table


def changes_table(rows: Sequence[tuple[str, float | None, float | None]]) -> Table:
    """Students whose score changes: student, score before and score now."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("student", no_wrap=True, max_width=30)
    for title in ("before", "now", "change"):
        table.add_column(title, justify="right", no_wrap=True)
    for student, before, now in rows:
        change = "" if before is None or now is None else f"{now - before:+g}"
        style = "red" if change.startswith("-") else ""
        cells = ["-" if value is None else points(value) for value in (before, now)]
        table.add_row(Text(student), *cells, Text(change, style=style))
    return table


def feedback_text(card: Scorecard) -> Text:
    """One student's feedback for the terminal, wrapped to its width."""
    text = Text()
    for milestone in card.milestones:
        score = f"{points(milestone.score)} / {points(milestone.max_score)}"
        text.append(f"{milestone.title}", style="bold").append(f"  {score}\n")
        for note in milestone.notes:
            text.append(_wrapped(f"note: {note}", 2), style="yellow")
        shared = shared_lines(milestone)
        for line in shared:
            text.append(_wrapped(line, 2), style="red")
        for misconception in milestone.misconceptions:
            text.append(
                _wrapped(f"{misconception.title}. {misconception.message}", 2), style="cyan"
            )
        for criterion in milestone.criteria:
            _append_criterion(text, criterion, shared)
    if card.late and card.late.explanation:
        text.append(_wrapped(card.late.explanation, 0), style="yellow")
    total = points(card.score) if card.score is not None else "-"
    return text.append(f"Score: {total} of {points(card.max_score)}", style="bold")


def _append_criterion(text: Text, criterion: CriterionScore, shared: tuple[str, ...]) -> None:
    right, word = criterion.full, verdict_word(criterion)
    text.append("  ✓ " if right else "  ✗ ", style="green" if right else "red")
    text.append(_wrapped(criterion.title + (word and f": {word}"), 4).lstrip())
    for line in own_lines(criterion, shared):
        text.append(_wrapped(line, 6))


def _wrapped(text: str, indent: int) -> str:
    margin = " " * indent
    return (
        textwrap.fill(printable(text), WIDTH, initial_indent=margin, subsequent_indent=margin)
        + "\n"
    )
