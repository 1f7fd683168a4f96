"""A graded results folder as one results.json for each submission."""

from __future__ import annotations

from pathlib import Path

from grader.attempts import attempt_id, examined_ids
from grader.errors import ReportError, ResultsError
from grader.files import write_atomically
from grader.gradescope.conversion import Circumstances, failed_run, graded_results, refused_results
from grader.gradescope.results_format import FailedRun, GradescopeResults, results_json
from grader.model import Scorecard
from grader.results import Results
from grader.rubric import Rubric


def export_results(results: Results, rubric: Rubric, into: Path) -> tuple[int, list[str]]:
    """Write FOLDER/<student>.json for each student of a results folder.

    Returns:
        How many files were written, and the students whose file has no score.

    Raises:
        ResultsError: if the folder holds no students, or a student's scorecard cannot be read or
            is of another rubric; nothing is written then.
    """
    students = results.class_list()
    unscored = [name for name in students if _card(results, name, rubric).score is None]
    for name in students:  # one at a time: a class is never in memory as a whole
        told = _results(results, name, rubric)
        write_atomically(into / f"{name}.json", results_json(told))
    return len(students), unscored


def _card(results: Results, student: str, rubric: Rubric) -> Scorecard:
    card = results.load_scorecard(student)
    if card is None or any(m.id not in _milestones(rubric) for m in card.milestones):
        raise ResultsError(
            f"{results.student(student) / 'score.json'} cannot be read, or is of another rubric.",
            "Score the folder again: grade score RESULTS.",
        )
    return card


def _results(results: Results, student: str, rubric: Rubric) -> GradescopeResults | FailedRun:
    card = _card(results, student, rubric)
    if card.score is not None:
        return graded_results(card, rubric, Circumstances())
    problem = _students_problem(results, card)
    return refused_results(problem) if problem else failed_run()


def _milestones(rubric: Rubric) -> set[str]:
    return {milestone.id for milestone in rubric.milestones}


def _students_problem(results: Results, card: Scorecard) -> str:
    """What intake found wrong with the files; empty if the fault is ours, be it in one attempt."""
    scored = {attempt_id(card.student, a.number) for a in card.attempts if a.score is not None}
    without = [name for name in examined_ids(card) or [card.student] if name not in scored]
    problems = [_problem(results, name) for name in without]
    return " ".join(dict.fromkeys(problems)) if all(problems) else ""


def _problem(results: Results, examined: str) -> str:
    try:
        return str(results.load_report(examined)["examination"]["facts"].get("problem", ""))
    except ReportError:
        return ""
