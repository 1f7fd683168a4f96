"""Milestone 3: which encoder block the student's module computes."""

from __future__ import annotations

import itertools
from contextlib import suppress
from functools import partial

import torch
from torch import Tensor

from grader.examiner.block import BlockUnderTest
from grader.examiner.checks import Draw
from grader.examiner.diagnosis import signs
from grader.examiner.diagnosis.finding import Budget, EndedError, Finding, asked
from grader.examiner.diagnosis.modules import (
    ModuleDiagnosis,
    Shapes,
    drawn,
    sizes_fixed,
    width_ignored,
)
from grader.examiner.module import Module
from grader.examiner.student import Student
from grader.lesson.block_readings import BlockParts, block_roles
from grader.lesson.choices import BlockChoices, Change, changed, changes_of
from grader.lesson.encoder import BlockComputation
from grader.lesson.parameter_names import leaf, squeezed
from grader.lesson.roles import BlockRoles
from grader.lesson.search import Explanation, Search

CLASS = "EncoderBlock"
D, H, F = 8, 2, 32
OTHER_D, OTHER_H, OTHER_F = 6, 3, 10
MAX_PRODUCT = 400
MAX_READINGS = 24
# Changes of the norms that are no mistakes here, or the same as another one: a block may choose
# its eps, and its input has three dimensions.  Without the axis kept nothing comes out at all.
NOT_HERE = {
    "axis": ("second", "third"),
    "kept": ("dropped",),
    "spread": ("untouched",),
    "eps": ("outside", "both", "none", "fixed-5", "fixed-6", "fixed-8"),
}
CHANGES = [c for c in changes_of(BlockChoices) if c.option not in NOT_HERE.get(c.choice, ())]


def pool(fixed: bool = False) -> list[Tensor]:
    """Inputs: a tiny one shows eps, a square one lets layers run along the sequence.

    The square one has many tokens, since the forms of GELU differ for some values only.
    """
    draw = Draw("diagnosis of EncoderBlock", fixed)
    return [
        draw.normal(2, 5, D, mean=0.5),
        draw.normal(2, 5, D, std=3e-3),
        draw.normal(8, D, D, mean=-0.5, std=2.0),
    ]


def diagnose(student: Student, budget: Budget) -> Finding:
    """Name what is wrong with a student's block."""
    diagnosis = ModuleDiagnosis(student, budget, CLASS)
    explanations: list[Explanation] = []
    with suppress(EndedError):
        module = diagnosis.built(d=D, h=H, d_ff=F)
        if module is None:
            return diagnosis.concluded([])
        other = diagnosis.built(d=OTHER_D, h=OTHER_H, d_ff=OTHER_F)
        if sizes_fixed(module, other):
            diagnosis.note("hard-coded-sizes")
        elif other and width_ignored(other, OTHER_D, OTHER_F):
            diagnosis.note("hidden-width-ignored")
        parts = block_roles(tuple(module.shapes.items()), D, H, F)
        if any(kind.startswith("BatchNorm") for kind in module.children.values()):
            diagnosis.note("normalised-over-batch-and-tokens")  # what it does in eval mode is less
            return diagnosis.concluded([])
        _look_at_parameters(diagnosis, module, parts)
        sent = _without_extras(drawn(module.shapes, CLASS), parts)
        readings = readings_of(module, parts, sent)
        computations = [BlockComputation(roles.read(sent, D, H)) for roles in readings]
        search = _search(diagnosis, module, readings, sent, computations)
        explanations = search.single()
        _look_at_norms(diagnosis, explanations, readings)
        explained = partial(_computed, explanations[0], computations) if explanations else None
        diagnosis.look_at_the_rest(module, pool()[0], sent, explained)
        if not explanations and not diagnosis.chance:
            search.ask_all()
            right = _parts_seen_right(diagnosis, module)
            explanations = search.pairs([c for c in search.changes if c.part not in right])
    return diagnosis.concluded(explanations, partial(_fixed_answers, diagnosis))


def _fixed_answers(diagnosis: ModuleDiagnosis) -> list[Tensor | None]:
    def weights(shapes: Shapes) -> dict[str, Tensor]:
        parts = block_roles(tuple(shapes.items()), D, H, F)
        return _without_extras(drawn(shapes, CLASS, fixed=True), parts)

    return diagnosis.asked_anew({"d": D, "h": H, "d_ff": F}, pool(fixed=True), weights)


def _without_extras(drawn_weights: dict[str, Tensor], parts: BlockParts) -> dict[str, Tensor]:
    """Weights in which vectors that play no part in the lesson are zero."""
    names = {n for ffn in parts.ffns for n in ffn.names}
    names |= {n for attention in parts.attentions for n in attention.names}
    names |= {n for pair in parts.norms for roles in pair for n in roles.names}
    return {
        name: value if name in names or value.dim() > 1 else torch.zeros_like(value)
        for name, value in drawn_weights.items()
    }


def _computed(explanation: Explanation, computations: list[BlockComputation], x: Tensor) -> Tensor:
    choices = changed(BlockChoices(), explanation.changes)
    return computations[explanation.reading].output(x, choices)


def _parts_seen_right(diagnosis: ModuleDiagnosis, module: Module) -> frozenset[str]:
    """Parts that were seen to compute the lesson's formula, so that no change lies in them."""
    block = BlockUnderTest(module, Draw("parts of EncoderBlock"), D, H, F)
    seen: list[frozenset[str]] = []

    def look() -> Tensor:
        seen.append(block.parts_seen_right(pool()[0]))
        return torch.zeros(())

    asked(look, diagnosis.budget)
    return seen[0] if seen else frozenset()


def readings_of(module: Module, parts: BlockParts, sent: dict[str, Tensor]) -> list[BlockRoles]:
    """Different readings of all parameters, best first; none if there are too many.

    Args:
        module: whose `nn.Linear` layers hold their weights as they do.
        parts: readings of each part.
        sent: weights, by which readings that come to the same are known.
    """
    product = itertools.product(parts.norms, parts.attentions, parts.ffns)
    found: dict[tuple[object, ...], BlockRoles] = {}
    for norms, attention, ffn in itertools.islice(product, MAX_PRODUCT):
        roles = BlockRoles(norms[0], attention, norms[1], ffn)
        turned = ffn.names if ffn.transposed else frozenset()
        turned |= attention.names if attention.turned else frozenset()
        if any(module.children.get(name.rpartition(".")[0]) == "Linear" for name in turned):
            continue
        if not ffn.names & (norms[0].names | norms[1].names):
            a = attention.read(sent)
            same = (norms, ffn, *(m.flatten()[1].item() for m in (a.q, a.k, a.v, a.o)))
            found.setdefault(same, roles)
    return list(found.values()) if len(found) <= MAX_READINGS else []


def _search(
    diagnosis: ModuleDiagnosis,
    module: Module,
    readings: list[BlockRoles],
    sent: dict[str, Tensor],
    computations: list[BlockComputation],
) -> Search:
    inputs = pool()

    def predict(explanation: Explanation, number: int) -> Tensor:
        return _computed(explanation, computations, inputs[number])

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
    cause = signs.unregistered_sign(diagnosis.source)
    matrices = [squeezed(shape) for shape in shapes.values() if len(squeezed(shape)) == 2]
    square_count = matrices.count((D, D))
    if not parts.attentions or not parts.ffns:
        diagnosis.note(cause)
    if not cause and not parts.attentions and square_count == 3 and len(matrices) == 5:
        diagnosis.note("output-projection-missing")
    if not cause and not parts.ffns and len(matrices) == square_count == 4:
        diagnosis.note("ffn-unused")
    if parts.ffns and all(roles.b1 is None or roles.b2 is None for roles in parts.ffns):
        diagnosis.note("" if parts.ffns[0].folded else "biases-missing")
    square = {name.rpartition(".")[0] for name, s in shapes.items() if squeezed(s) == (D, D)}
    beside = [n for n in shapes if leaf(n) == "bias" and n.rpartition(".")[0] in square]
    packed = [n for n in shapes if leaf(n).startswith("in_proj_bias")]
    if len(beside) >= 3 or packed:
        diagnosis.note("attention-biases")


def _look_at_norms(
    diagnosis: ModuleDiagnosis, explanations: list[Explanation], readings: list[BlockRoles]
) -> None:
    """Norms whose outputs are right and whose parameters are not their own, or are missing."""
    explained = [readings[e.reading] for e in explanations]
    if explained and all(r.norm1.vectors & r.norm2.vectors for r in explained):
        diagnosis.note("norm1-used-twice")
    right = [readings[e.reading] for e in explanations if not e.changes]
    if not right:
        return
    if all(r.norm1.gain is None and r.norm2.gain is None for r in right):
        diagnosis.note("gain-unused")
    if all(r.norm1.shift is None and r.norm2.shift is None for r in right):
        diagnosis.note("shift-unused")
