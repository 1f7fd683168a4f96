"""Milestone 3: which encoder block the student's module computes."""

from __future__ import annotations

import itertools

from torch import Tensor

from grader.examiner.checks import Draw
from grader.examiner.diagnosis import signs
from grader.examiner.diagnosis.finding import Budget, EndedError, Finding
from grader.examiner.diagnosis.modules import ModuleDiagnosis, drawn, sizes_fixed
from grader.examiner.module import Module
from grader.examiner.student import Student
from grader.lesson.block_readings import BlockParts, block_roles
from grader.lesson.choices import BlockChoices, Change, changed, changes_of
from grader.lesson.encoder import BlockComputation
from grader.lesson.parameter_names import leaf, squeezed
from grader.lesson.roles import BlockRoles
from grader.lesson.search import Explanation

CLASS = "EncoderBlock"
D, H, F = 8, 2, 32
OTHER = (12, 3, 20)
MAX_READINGS = 6
CHANGES = [
    change
    for change in changes_of(BlockChoices)
    # The function that milestone 1 writes takes eps as an argument; a block's norm does not.
    if change.option not in ("fixed-5", "third")
]


def pool() -> list[Tensor]:
    """Inputs: a tiny one shows eps, a square one lets layers run along the sequence."""
    draw = Draw("diagnosis of EncoderBlock")
    return [
        draw.normal(2, 5, D, mean=0.5),
        draw.normal(2, 5, D, std=3e-3),
        draw.normal(2, D, D, mean=-0.5, std=2.0),
    ]


def diagnose(student: Student, budget: Budget) -> Finding:
    """Name what is wrong with a student's block."""
    diagnosis = ModuleDiagnosis(student, budget, CLASS)
    explanations: list[Explanation] = []
    answers: list[Tensor | None] = []
    try:
        module = diagnosis.built(d=D, h=H, d_ff=F)
        if module is None:
            return diagnosis.concluded([], [])
        d, h, f = OTHER
        if sizes_fixed(module, diagnosis.built(d=d, h=h, d_ff=f)):
            diagnosis.note("hard-coded-sizes")
        parts = block_roles(tuple(module.shapes.items()), D, H, F)
        _look_at_parameters(diagnosis, module, parts)
        explanations, answers = _searched(diagnosis, module, parts)
        _look_at_norms(diagnosis, explanations, readings_of(parts))
        diagnosis.look_at_the_rest(module, pool()[0], drawn(module.shapes, CLASS))
    except EndedError:
        pass
    return diagnosis.concluded(explanations, answers)


def readings_of(parts: BlockParts) -> list[BlockRoles]:
    """Readings of all parameters, best first; none if there are too many to tell them apart."""
    product = itertools.product(parts.norms, parts.attentions, parts.ffns)
    found = [BlockRoles(n[0], a, n[1], f) for n, a, f in itertools.islice(product, 200)]
    whole = [roles for roles in found if _disjoint(roles)]
    return whole if len(whole) <= MAX_READINGS else []


def _disjoint(roles: BlockRoles) -> bool:
    return not roles.ffn.names & (roles.norm1.names | roles.norm2.names)


def _searched(
    diagnosis: ModuleDiagnosis, module: Module, parts: BlockParts
) -> tuple[list[Explanation], list[Tensor | None]]:
    sent = drawn(module.shapes, CLASS)
    readings = readings_of(parts)
    computations = [BlockComputation(roles.read(sent, D, H)) for roles in readings]
    inputs = pool()

    def predict(explanation: Explanation, number: int) -> Tensor:
        choices = changed(BlockChoices(), explanation.changes)
        return computations[explanation.reading].output(inputs[number], choices)

    changes = [change for change in CHANGES if _possible(change, readings)]
    return diagnosis.search(changes, len(readings), inputs, module, sent, predict)


def _possible(change: Change, readings: list[BlockRoles]) -> bool:
    """A bias that is not there cannot be left unused."""
    if change.choice == "first_bias":
        return any(roles.ffn.b1 for roles in readings)
    if change.choice == "second_bias":
        return any(roles.ffn.b2 for roles in readings)
    return True


def _look_at_parameters(diagnosis: ModuleDiagnosis, module: Module, parts: BlockParts) -> None:
    """What names and shapes of the parameters show."""
    shapes = module.shapes
    if not parts.attentions or not parts.ffns:
        diagnosis.note(signs.unregistered_sign(diagnosis.source))
    if parts.ffns and parts.ffns[0].b1 is None and parts.ffns[0].b2 is None:
        diagnosis.note("" if parts.ffns[0].folded else "biases-missing")
    square = {name.rpartition(".")[0] for name, s in shapes.items() if squeezed(s) == (D, D)}
    beside = [n for n in shapes if leaf(n) == "bias" and n.rpartition(".")[0] in square]
    if square and len(beside) >= 3:
        diagnosis.note("attention-biases")


def _look_at_norms(
    diagnosis: ModuleDiagnosis, explanations: list[Explanation], readings: list[BlockRoles]
) -> None:
    """Norms whose outputs are right and whose parameters are not their own, or are missing."""
    right = [readings[e.reading] for e in explanations if not e.changes]
    if not right:
        return
    if all(r.norm1.vectors & r.norm2.vectors for r in right):
        diagnosis.note("norm1-used-twice")
    if all(r.norm1.gain is None and r.norm2.gain is None for r in right):
        diagnosis.note("gain-unused")
    if all(r.norm1.shift is None and r.norm2.shift is None for r in right):
        diagnosis.note("shift-unused")
