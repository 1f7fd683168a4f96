"""Hidden tests of milestone 3: the pre-norm EncoderBlock.

What each sublayer receives and returns is looked at where the block has such children; where it
has none (everything written into one forward), the output is compared with the formula's.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grader.examiner.answers import Answer, fail
from grader.examiner.block import BlockUnderTest
from grader.examiner.checks import Draw, close, expect_like, expect_repeated, expect_shape
from grader.examiner.diagnosis.encoder import CHANGES, diagnose
from grader.examiner.module import Module, Run, with_gradient
from grader.examiner.student import Student
from grader.examiner.work import Look, expect_work, layers_take_part, look
from grader.lesson.mathematics import block_parameter_count
from grader.lesson.variants import encoder_block_class, variants

CLASS = "EncoderBlock"
LOOKED_FOR = (CLASS,)
DIAGNOSE = diagnose
# Both forms of GELU count as right here: milestone 2 is about the difference.
VARIANTS = variants(
    "PREDICTED_PARAMETERS = 840\nEncoderBlock =",
    encoder_block_class,
    [change for change in CHANGES if change.option != "gelu-tanh"],
)
OUTPUT = "The output of EncoderBlock"


def build(student: Student, d: int = 8, h: int = 2, f: int = 32) -> BlockUnderTest:
    """An EncoderBlock of the student's with weights drawn for it, the same for every test."""

    def create() -> BlockUnderTest:
        return BlockUnderTest(student.build(CLASS, d=d, h=h, d_ff=f), Draw("weights"), d, h, f)

    return student.once(f"block {d} {h} {f}", create)


def test_prediction(student: Student) -> None:
    """The student predicted 840 parameters."""
    predicted = student.constants("PREDICTED_PARAMETERS")
    if predicted == [None]:
        raise fail("PREDICTED_PARAMETERS is still None. Work it out on paper and write it down.")
    if block_parameter_count(8, 32) not in predicted:
        raise fail(
            "PREDICTED_PARAMETERS is not the number of parameters of EncoderBlock(8, 2, 32). "
            "Count four attention matrices, two norms and the FFN. See slides 37 and 54."
        )


# d, h and d_ff
LESSON = (8, 2, 32)
# Everything differs from the lesson, also the features of a head.
OTHER = (6, 3, 10)


def expect_count(student: Student, d: int, h: int, f: int) -> None:
    """EncoderBlock(d, h, f) has the parameters of attention, two norms and the FFN."""
    module = student.build(CLASS, d=d, h=h, d_ff=f)
    expected = block_parameter_count(d, f)
    if module.parameter_count != expected:
        raise fail(
            "The number of parameters is not that of four attention matrices without biases, two "
            "norms and the FFN with biases. See slides 37 and 54.",
            module.counted(f"EncoderBlock({d}, {h}, {f})", expected),
        )
    if work(student).found is False:
        raise fail(
            "The number of parameters is right, but they play no part in what forward returns."
        )


def test_parameter_count_of_the_lesson(student: Student) -> None:
    """EncoderBlock(8, 2, 32) has 840 parameters."""
    expect_count(student, *LESSON)


def test_parameter_count_of_other_sizes(student: Student) -> None:
    """The formula holds for another size."""
    expect_count(student, *OTHER)


def in_view(student: Student) -> tuple[BlockUnderTest, Tensor]:
    """A block and an input, the same for every test that looks at the wiring."""
    x = student.once("wiring", lambda: Draw("wiring").normal(2, 5, 8, mean=0.5))
    return build(student), x


def other_in_view(student: Student) -> tuple[BlockUnderTest, Tensor]:
    """The same with another size."""
    x = student.once("other size", lambda: Draw("other size").normal(3, 7, OTHER[0]))
    return build(student, *OTHER), x


def plain_run(student: Student) -> Answer:
    """A run on the input in view with nobody looking on, the same for every test that asks."""
    block, x = in_view(student)
    return block.plain_run(x)


def work(student: Student) -> Look:
    """Whether the block works on its input at all, rightly or not."""

    def right() -> bool:
        block, x = in_view(student)
        return block.matches_formula(x)

    def takes_part() -> bool:
        block, x = in_view(student)
        return layers_take_part(block.module, x, block.sent)

    return student.once("work", lambda: look([right, takes_part]))


def test_shape_kept_in_the_lesson(student: Student, draw: Draw) -> None:
    """With d = 8 the output has the input's shape, also for one sequence of one token."""
    block, x = in_view(student)
    inputs = [draw.normal(1, 1, 8), draw.normal(4, 2, 8)]
    answers = block.with_weights().run_each(*map(Run, inputs))
    for given, answer in zip([x, *inputs], [plain_run(student), *answers], strict=True):
        expect_shape(answer.tensor, tuple(given.shape), OUTPUT)


def test_shape_kept_for_other_sizes(student: Student) -> None:
    """With another size and number of heads the output has the input's shape."""
    block, x = other_in_view(student)
    expect_shape(block.plain_run(x).tensor, tuple(x.shape), OUTPUT)


def test_wiring_attention_receives_norm1(student: Student) -> None:
    """norm1 receives the block's input, and the attention receives what norm1 returns."""
    block, x = in_view(student)
    block.expect_wired(x, block.attention_input_wrong(x), "first")


def test_wiring_first_residual(student: Student) -> None:
    """The attention's output is added to the block's input, unnormalised."""
    block, x = in_view(student)
    block.expect_wired(x, block.first_residual_wrong(x), "first")


def test_wiring_ffn_receives_norm2(student: Student) -> None:
    """The feed-forward network receives what norm2 returns for the residual stream."""
    block, x = in_view(student)
    block.expect_wired(x, block.ffn_input_wrong(x), "second")


def test_wiring_second_residual(student: Student) -> None:
    """The feed-forward network's output is added to the residual stream."""
    block, x = in_view(student)
    block.expect_wired(x, block.second_residual_wrong(x), "second")


def test_identity_with_zero_sublayers(student: Student) -> None:
    """With zero weights in attention and FFN the input passes unchanged."""
    block, x = in_view(student)
    output = block.run_with_zero_sublayers(x).tensor
    expect_like(output, x, OUTPUT)
    if not close(output, x):
        raise fail(
            "When all weights of attention and FFN are zero, the block must return its input. "
            "Yours does not: the path of x through both residuals is not free. See slide 18."
        )


def test_two_norms_with_own_parameters(student: Student) -> None:
    """There are two norms, each with a gain and a shift of its own."""
    first, second = build(student).norms()
    if first.vectors & second.vectors:
        raise fail(
            "Only one norm with a gain and a shift for d features was found. The block needs "
            "two, norm1 and norm2, each with its own. See slide 34."
        )
    for norm, name in ((first, "first"), (second, "second")):
        if norm.gain is None or norm.shift is None:
            raise fail(f"The {name} norm has no gain and shift to train. See slides 5 and 34.")


def test_two_norms_normalise(student: Student) -> None:
    """Each norm computes LayerNorm of what it receives."""
    block, x = in_view(student)
    block.expect_norms_normalise(x)


def test_two_norms_take_part(student: Student) -> None:
    """The output depends on the parameters of each norm."""
    block, x = in_view(student)
    before = plain_run(student).tensor
    runs = []
    for norm, name in zip(block.norms(), ("norm1", "norm2"), strict=True):
        if not norm.names:
            raise fail(f"{name} was not found. The block needs two norms. See slide 34.")
        runs.append(Run(x, {**block.sent, **norm.changed(block.sent)}))
    answers = block.with_weights().run_each(*runs)
    expect_like(before, x, OUTPUT)
    for after, name in zip((answer.tensor for answer in answers), ("norm1", "norm2"), strict=True):
        expect_like(after, x, OUTPUT)
        if close(after, before):
            raise fail(f"The output does not depend on the parameters of {name}. See slide 34.")


@pytest.mark.parametrize("view", [in_view, other_in_view], ids=["two-heads", "three-heads"])
def test_attention_values(
    student: Student, view: Callable[[Student], tuple[BlockUnderTest, Tensor]]
) -> None:
    """The attention's output is softmax(Q K^T / sqrt(dk)) V per head, projected."""
    block, x = view(student)
    block.expect_attention(x)


def test_feed_forward_values(student: Student) -> None:
    """The feed-forward network inside computes W2 GELU(W1 x + b1) + b2."""
    block, x = in_view(student)
    block.expect_feed_forward(x)


def run_twice_and_changed(student: Student) -> tuple[Tensor, list[Tensor]]:
    """A batch, and the outputs for it, for it with other sequences but the first, for it again."""

    def create() -> tuple[Tensor, list[Tensor]]:
        block, x = in_view(student)
        changed = torch.cat([x[:1], Draw("batch").normal(1, 5, 8, mean=2.0)])
        first = plain_run(student)
        runs = block.with_weights().run_each(Run(changed), Run(x))
        return x, [answer.tensor for answer in (first, *runs)]

    return student.once("batch", create)


def test_batch_does_not_mix(student: Student) -> None:
    """A sequence's output does not change with the other sequences of its batch."""
    x, (before, after, again) = run_twice_and_changed(student)
    expect_like(before, x, OUTPUT)
    expect_repeated(before, again, OUTPUT)
    expect_like(after, x, OUTPUT)
    if not close(after[:1], before[:1]):
        raise fail(
            "The output of one sequence changes when other sequences of the batch change. "
            "Sequences must not see each other. With nn.MultiheadAttention, check batch_first."
        )


def test_repeatable(student: Student) -> None:
    """In eval mode the same input gives the same output twice."""
    x, (first, _, second) = run_twice_and_changed(student)
    expect_like(first, x, OUTPUT)
    expect_repeated(first, second, OUTPUT)


def run_with_gradient(student: Student) -> tuple[Tensor, Module, Answer]:
    """An input, a block and a run with a gradient, the same for every test that asks.

    Raises:
        StudentFaultError: if the output is another one than without a gradient.
    """

    def create() -> tuple[Tensor, Module, Answer]:
        block, x = in_view(student)
        upstream = Draw("gradient").normal(2, 5, 8)
        plain, module = block.plain_run(x), block.with_weights()
        return x, module, with_gradient(module, x, upstream, plain, OUTPUT)

    return student.once("gradient", create)


def test_gradients_reach_input(student: Student) -> None:
    """The input receives a gradient."""
    x, _, answer = run_with_gradient(student)
    expect_like(answer.tensor, x, OUTPUT)
    gradient = answer.input_gradients.get(0)
    if gradient is None:
        raise fail("No gradient reaches the block's input. Something cuts it, such as detach.")
    expect_like(gradient, x, "The gradient of the block's input")
    if not bool((gradient != 0).any()):
        raise fail("The gradient of the block's input is zero everywhere.")


def test_gradients_along_the_residuals(student: Student, draw: Draw) -> None:
    """With zero weights in the sublayers the gradient passes unchanged, as x does."""
    block, x = in_view(student)
    upstream = draw.normal(2, 5, 8)
    answer = block.run_with_zero_sublayers(x, upstream)
    if not close(answer.tensor, x):
        if not close(block.run_with_zero_sublayers(x).tensor, x):
            return  # the identity test says what is wrong
        raise fail(f"{OUTPUT} is another one when a gradient is asked for.")
    gradient = answer.input_gradients.get(0)
    if gradient is None or not close(gradient, upstream):
        raise fail(
            "When all weights of attention and FFN are zero, the gradient must pass unchanged "
            "along the + x path. Yours does not: detach or .data cuts it. See slide 18."
        )


def test_gradients_reach_parameters(student: Student) -> None:
    """Every parameter receives a gradient that is not all zeros."""
    x, module, answer = run_with_gradient(student)
    if not module.trainable:
        raise fail("The block has no parameters to train. Layers must be attributes.")
    expect_like(answer.tensor, x, OUTPUT)
    for name in sorted(module.trainable):
        gradient: Tensor | None = answer.parameter_gradients.get(name)
        if gradient is None or not bool((gradient != 0).any()):
            raise fail(
                f"No gradient reaches {module.called(name)}: it plays no part in the output, or "
                "something such as detach cuts the gradient."
            )


def test_works_on_the_input(student: Student) -> None:
    """The output takes several values of the input together, with the block's parameters."""
    expect_work(work(student), OUTPUT)
