"""Pairs of mistakes: what the diagnosis names when two choices are made otherwise.

`python -m tests.pairs_run MILESTONE [STEP]` diagnoses a solution with each pair of changes (or
each STEP-th one), in this process, and prints how many are named.
"""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import torch
from torch import Tensor

from grader.batch import setup_of
from grader.examiner.checks import Draw
from grader.examiner.diagnosis import encoder, ffn, layernorm
from grader.examiner.diagnosis.finding import Budget, Finding, same
from grader.examiner.examination import Examination
from grader.lesson.choices import Change, pairs_of
from grader.lesson.variants import (
    encoder_block_class,
    feed_forward_class,
    layer_norm_function,
    variant,
)
from grader.rubric import load_rubric
from tests.corpus_run import RUBRIC


@dataclass(frozen=True)
class Subject:
    """A milestone whose solution is changed."""

    module: ModuleType
    suite: str
    file: str
    head: str
    factory: Callable[..., object]
    compute: Callable[[Sequence[Change]], Tensor]


def settings(changes: Sequence[Change]) -> list[tuple[str, str, str]]:
    """Changes as a factory of variants takes them."""
    return [(change.part, change.choice, change.option) for change in changes]


def norm_output(changes: Sequence[Change]) -> Tensor:
    """What a LayerNorm with some changes makes of inputs that no diagnosis has used."""
    draw, function = Draw("pairs"), layer_norm_function(settings(changes))
    inputs = [draw.normal(2, 4, 6, mean=0.3), draw.normal(3, 5, std=3e-3)]
    return torch.cat([function(x).flatten() for x in inputs])


def module_output(factory: Callable[..., object], sizes: Sequence[int], x: Tensor) -> Tensor:
    """What a module with drawn weights makes of an input."""
    made = factory(*sizes)
    assert isinstance(made, torch.nn.Module)
    shapes = {name: tuple(value.shape) for name, value in made.named_parameters()}
    drawn = Draw("pairs weights").weights(shapes)
    with torch.no_grad():
        for name, value in made.named_parameters():
            value.copy_(drawn[name])
        output: Tensor = made.eval()(x)
    return output


def ffn_output(changes: Sequence[Change]) -> Tensor:
    """The same for an FFN."""
    x = Draw("pairs").normal(2, 4, 4)
    return module_output(feed_forward_class(settings(changes)), (4, 16), x)


def block_output(changes: Sequence[Change]) -> Tensor:
    """The same for an EncoderBlock."""
    x = Draw("pairs").normal(2, 8, 8, mean=0.4)
    return module_output(encoder_block_class(settings(changes)), (8, 2, 32), x)


SUBJECTS = {
    "layernorm": Subject(
        layernorm, "test_milestone1_layernorm.py", "milestone1_layernorm.py",
        "PREDICTED_XHAT = []\nlayernorm_scratch =", layer_norm_function, norm_output,
    ),
    "ffn": Subject(
        ffn, "test_milestone2_ffn.py", "milestone2_ffn.py",
        "PREDICTED_PARAMETERS = 148\nFFN =", feed_forward_class, ffn_output,
    ),
    "encoder-block": Subject(
        encoder, "test_milestone3_encoder_block.py", "milestone3_encoder_block.py",
        "PREDICTED_PARAMETERS = 840\nEncoderBlock =", encoder_block_class, block_output,
    ),
}  # fmt: skip


def diagnosed(milestone: str, changes: tuple[Change, ...]) -> Finding:
    """The diagnosis of a solution with some changes."""
    subject, rubric = SUBJECTS[milestone], load_rubric(RUBRIC)
    with tempfile.TemporaryDirectory() as name:
        source = variant(subject.head, subject.factory, changes).source
        (Path(name) / subject.file).write_text(source)
        candidates = {milestone: (subject.file,)}
        examination = Examination(setup_of(rubric, 1, ()), candidates, Path(name), None)
        examination.turn_to(subject.suite, (), "pairs")
        budget = Budget()
        budget.start()
        finding: Finding = subject.module.diagnose(examination.student, budget)
    return finding


def explains(milestone: str, names: Sequence[str], pair: Sequence[Change]) -> bool:
    """Whether some setting of the named misconceptions computes what the pair does."""
    subject = SUBJECTS[milestone]
    options = [[c for c in subject.module.CHANGES if c.misconception == name] for name in names]
    target = subject.compute(pair)
    return any(same(target, subject.compute(changes)) for changes in itertools.product(*options))


def tally(milestone: str, step: int = 1) -> Counter[str]:
    """How pairs are named: exactly, by another set that computes the same, in part, wrongly, not.

    In part is right as far as it goes: the other mistake shows in none of the questions.
    """
    counts: Counter[str] = Counter()
    pairs = list(pairs_of(SUBJECTS[milestone].module.CHANGES))
    for pair in pairs[::step]:
        finding = diagnosed(milestone, pair)
        expected = {change.misconception for change in pair}
        if set(finding.names) == expected:
            counts["exactly"] += 1
        elif not finding.names:
            counts["unnamed"] += 1
        elif _raises_or_explains(milestone, finding.names, pair):
            counts["by an equivalent set"] += 1
        elif set(finding.names) < expected:
            counts["in part"] += 1
        else:
            counts["wrongly"] += 1
            print("wrongly:", sorted(expected), "named", list(finding.names))
    return counts


def _raises_or_explains(milestone: str, names: Sequence[str], pair: Sequence[Change]) -> bool:
    try:
        return explains(milestone, names, pair)
    except (IndexError, RuntimeError):
        return False


def main() -> None:
    """Print the counts."""
    torch.set_num_threads(1)  # as in the examiner; two of them spin on tensors this small
    step = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    counts = tally(sys.argv[1], step)
    total = sum(counts.values())
    for word, count in counts.most_common():
        print(f"{word:<24}{count:>6}{100 * count / total:>7.1f}%")


if __name__ == "__main__":
    main()
