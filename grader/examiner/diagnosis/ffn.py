"""Milestone 2: which feed-forward network the student's module computes."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from torch import Tensor

from grader.examiner.checks import Draw
from grader.examiner.diagnosis import signs
from grader.examiner.diagnosis.finding import Budget, EndedError, Finding
from grader.examiner.diagnosis.modules import (
    ModuleDiagnosis,
    Shapes,
    drawn,
    sizes_fixed,
    width_ignored,
)
from grader.examiner.module import Module
from grader.examiner.student import Student
from grader.lesson.choices import FeedForwardChoices, changed, changes_of
from grader.lesson.ffn_readings import likeliest_readings
from grader.lesson.mathematics import FeedForward, feed_forward
from grader.lesson.parameter_names import is_vector, squeezed
from grader.lesson.search import Explanation, Search

CLASS = "FFN"
D, F = 4, 16
OTHER_D, OTHER_F = 5, 7
CHANGES = changes_of(FeedForwardChoices)
MAX_READINGS = 6


def pool(fixed: bool = False) -> list[Tensor]:
    """Inputs: the square one lets layers run along the sequence."""
    draw = Draw("diagnosis of FFN", fixed)
    return [draw.normal(6, D), draw.normal(2, D, D), draw.normal(4, 3, 5, D, std=2.0)]


def diagnose(student: Student, budget: Budget) -> Finding:
    """Name what is wrong with a student's FFN."""
    diagnosis = ModuleDiagnosis(student, budget, CLASS)
    explanations: list[Explanation] = []
    with suppress(EndedError):
        module = diagnosis.built(d_model=D, d_ff=F)
        if module is None:
            return diagnosis.concluded([])
        other = diagnosis.built(d_model=OTHER_D, d_ff=OTHER_F)
        _look_at_parameters(diagnosis, module, other)
        sent = drawn(module.shapes, CLASS)
        readings = likeliest_readings(module.shapes, D, F)[:MAX_READINGS]
        weights = [roles.read(sent) for roles in readings]
        search = _search(diagnosis, module, sent, weights)
        explanations = search.single()
        right = [readings[e.reading] for e in explanations if not e.changes]
        if right and all(r.b1 is None or r.b2 is None for r in right if not r.folded):
            diagnosis.note("" if right[0].folded else "biases-missing")
        explained = partial(_computed, explanations[0], weights) if explanations else None
        diagnosis.look_at_the_rest(module, pool()[0], sent, explained)
        if not explanations and not diagnosis.chance:
            search.ask_all()
            explanations = search.pairs(search.changes)
    return diagnosis.concluded(explanations, partial(_fixed_answers, diagnosis))


def _fixed_answers(diagnosis: ModuleDiagnosis) -> list[Tensor | None]:
    sizes = {"d_model": D, "d_ff": F}
    return diagnosis.asked_anew(
        sizes, pool(fixed=True), lambda shapes: drawn(shapes, CLASS, fixed=True)
    )


def _search(
    diagnosis: ModuleDiagnosis,
    module: Module,
    sent: dict[str, Tensor],
    weights: list[FeedForward],
) -> Search:
    inputs = pool()

    def predict(explanation: Explanation, number: int) -> Tensor:
        return _computed(explanation, weights, inputs[number])

    changes = [c for c in CHANGES if _possible(c.choice, module.shapes)]
    return diagnosis.search(changes, len(weights), inputs, module, sent, predict)


def _computed(explanation: Explanation, weights: list[FeedForward], x: Tensor) -> Tensor:
    choices = changed(FeedForwardChoices(), explanation.changes)
    return feed_forward(x, weights[explanation.reading], choices)


def _possible(choice: str, shapes: Shapes) -> bool:
    """A bias that is not there cannot be left unused."""
    size = {"first_bias": F, "second_bias": D}.get(choice)
    return size is None or any(is_vector(shape, size) for shape in shapes.values())


def _look_at_parameters(diagnosis: ModuleDiagnosis, module: Module, other: Module | None) -> None:
    """What the shapes of the parameters show."""
    matrices = [shape for shape in module.shapes.values() if len(squeezed(shape)) == 2]
    if len(matrices) < 2:
        cause = signs.unregistered_sign(diagnosis.source)
        diagnosis.note(cause or ("shared-weights" if len(matrices) == 1 else ""))
    if sizes_fixed(module, other):
        diagnosis.note("hard-coded-sizes")
    elif other is not None and width_ignored(other, OTHER_D, OTHER_F):
        diagnosis.note("hidden-width-ignored")
