"""Hidden tests of milestone 2: the feed-forward network with GELU."""

import functools

import pytest
import torch
from torch import Tensor

from grader.examiner.answers import Answer, fail
from grader.examiner.checks import Draw, close, expect_like, expect_repeated, expect_shape
from grader.examiner.diagnosis.ffn import CHANGES, diagnose
from grader.examiner.module import SEED, Module, Run, with_gradient
from grader.examiner.student import Student
from grader.examiner.work import Look, expect_work, layers_take_part, look
from grader.lesson.choices import FeedForwardChoices
from grader.lesson.ffn_readings import likeliest_readings
from grader.lesson.mathematics import FEED_FORWARD, GELUS, feed_forward, ffn_parameter_count
from grader.lesson.roles import FeedForwardRoles
from grader.lesson.variants import feed_forward_class, variants

CLASS = "FFN"
LOOKED_FOR = (CLASS,)
DIAGNOSE = diagnose
VARIANTS = variants("PREDICTED_PARAMETERS = 148\nFFN =", feed_forward_class, CHANGES)
OUTPUT = "The output of FFN"
# Many tokens in two dimensions: the forms of GELU differ for some values only.
SHAPES = {"2d": (256, 4), "3d": (2, 5, 4), "4d": (2, 3, 5, 4)}


def build(student: Student, d: int = 4, f: int = 16) -> Module:
    """An FFN of the student's."""
    return student.build(CLASS, d_model=d, d_ff=f)


def drawn_weights(student: Student, module: Module, d: int = 4, f: int = 16) -> dict[str, Tensor]:
    """Weights for an FFN, the same for each test."""
    return student.once(f"weights {d} {f}", lambda: Draw("weights").weights(module.shapes))


def with_weights(student: Student) -> Module:
    """An FFN of the lesson's size after weights were sent to it."""
    module = build(student)
    module.write(drawn_weights(student, module))
    return module


Reading = tuple[FeedForwardRoles, dict[str, Tensor]]


def readings(student: Student, d: int = 4, f: int = 16) -> list[Reading]:
    """Each way to read an FFN's parameters, with weights to send for it.

    Parameters that play no part are sent as zeros, so that a bias too many costs the points of
    the parameter count only.
    """
    return student.once(f"readings {d} {f}", lambda: read(student, d, f))


def read(student: Student, d: int, f: int) -> list[Reading]:
    """The same, found out anew."""
    module = build(student, d, f)
    drawn = drawn_weights(student, module, d, f)
    zeros = {name: torch.zeros_like(value) for name, value in drawn.items()}
    found = []
    for roles in likeliest_readings(module.shapes, d, f):
        sent = {
            name: value if name in roles.names else zeros[name] for name, value in drawn.items()
        }
        found.append((roles, sent))
    if not found:
        found_there = f"Parameters found for d_model={d}, d_ff={f}: {module.described}."
        raise fail(
            "FFN must hold two weight matrices as parameters: one from d_model to d_ff features "
            "(w1) and one from d_ff to d_model (w2).",
            found_there if module.described else "",
        )
    return found


def right(x: Tensor, reading: Reading, choices: FeedForwardChoices = FEED_FORWARD) -> Tensor:
    """What the formula gives for one reading of the parameters."""
    roles, sent = reading
    return right_for(x, roles, choices, *(sent[name] for name in sorted(roles.names)))


@functools.lru_cache(64)
def right_for(
    x: Tensor, roles: FeedForwardRoles, choices: FeedForwardChoices, *values: Tensor
) -> Tensor:
    """The same for the values of the parameters, in the order of their names.

    Every submission meets the same tensors, so what is right for them is kept, by their identity.
    """
    read_as = roles.read(dict(zip(sorted(roles.names), values, strict=True)))
    return feed_forward(x, read_as, choices)


def run_on(
    student: Student, shape: tuple[int, ...], d: int = 4, f: int = 16
) -> tuple[Tensor, Answer]:
    """An input and a run on it with the drawn weights, the same for every test that asks."""

    def create() -> tuple[Tensor, Answer]:
        module = build(student, d, f)
        module.write(drawn_weights(student, module, d, f))
        x = Draw(f"run {shape}").normal(*shape)
        return x, module.run(x, seed=SEED)

    return student.once(f"run {shape} {d} {f}", create)


def output_for(
    student: Student, reading: Reading, shape: tuple[int, ...], d: int = 4, f: int = 16
) -> tuple[Tensor, Tensor]:
    """An input and the output for it with the weights of one reading."""
    x, answer = run_on(student, shape, d, f)
    module, (_, sent) = build(student, d, f), reading
    drawn = drawn_weights(student, module, d, f)
    if any(sent[name] is not value for name, value in drawn.items()):
        module.write(sent)
        answer = module.run(x)
    expect_like(answer.tensor, x, OUTPUT)
    return x, answer.tensor


def expect_values(student: Student, shape: tuple[int, ...], d: int = 4, f: int = 16) -> None:
    """For some reading of the parameters, the output is that of the formula.

    The tanh form of GELU counts as right here: it has a test of its own.
    """
    for reading in readings(student, d, f):
        x, output = output_for(student, reading, shape, d, f)
        if any(close(output, right(x, reading, choices)) for choices in GELUS):
            return
    raise fail("The output differs from W2 GELU(W1 x + b1) + b2. See slides 24 and 29.")


def work(student: Student) -> Look:
    """Whether the network works on its input at all, rightly or not."""

    def right_at_once() -> bool:
        reading = readings(student)[0]
        x, answer = run_on(student, SHAPES["2d"])
        return close(answer.tensor, right(x, reading))

    def takes_part(*shape: int) -> bool:
        module = build(student)
        x = Draw("work").normal(*shape)
        return layers_take_part(module, x, drawn_weights(student, module))

    attempts = [right_at_once, lambda: takes_part(3, 4), lambda: takes_part(2, 3, 4)]
    return student.once("work", lambda: look(attempts))


def test_prediction(student: Student) -> None:
    """The student predicted 148 parameters."""
    predicted = student.constants("PREDICTED_PARAMETERS")
    if predicted == [None]:
        raise fail("PREDICTED_PARAMETERS is still None. Work it out on paper and write it down.")
    if ffn_parameter_count(4, 16) not in predicted:
        raise fail(
            "PREDICTED_PARAMETERS is not the number of parameters of FFN(4, 16). Count weights "
            "and biases of both layers. See slide 52."
        )


def expect_count(student: Student, d: int, f: int) -> None:
    """FFN(d, f) has as many parameters as two linear layers with biases."""
    module = build(student, d, f)
    expected = ffn_parameter_count(d, f)
    if module.parameter_count != expected:
        raise fail(
            "The number of parameters is not that of two linear layers with biases: "
            "d_model*d_ff + d_ff + d_ff*d_model + d_model. See slide 52.",
            module.counted(f"FFN({d}, {f})", expected),
        )
    if work(student).found is False:
        raise fail(
            "The number of parameters is right, but they play no part in what forward returns."
        )


def test_parameter_count_of_the_lesson(student: Student) -> None:
    """FFN(4, 16) has 148 parameters."""
    expect_count(student, 4, 16)


def test_parameter_count_of_other_sizes(student: Student) -> None:
    """The formula holds for another size, where d_ff is not 4 * d_model."""
    expect_count(student, 5, 7)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_values_lesson_size(student: Student, shape: tuple[int, ...]) -> None:
    """FFN(4, 16) computes the formula with weights that it is sent."""
    expect_values(student, shape)


def test_values_other_size(student: Student) -> None:
    """FFN(5, 7) computes the formula: nothing depends on the sizes of the lesson."""
    expect_values(student, (3, 5), d=5, f=7)


def test_exact_gelu(student: Student) -> None:
    """The activation is x Phi(x), not its tanh approximation."""
    approximate = False
    for reading in readings(student):
        x, output = output_for(student, reading, SHAPES["2d"])
        if close(output, right(x, reading)):
            return
        approximate = approximate or close(output, right(x, reading, GELUS[1]))
    if approximate:
        raise fail(
            "Your GELU is the tanh approximation. The lesson uses the exact one, x Phi(x): the "
            "default of F.gelu. See slide 26."
        )
    raise fail("The output is not that of GELU between the two layers. See slides 24 and 26.")


def test_position_wise_tokens(student: Student, draw: Draw) -> None:
    """A token's output depends on that token only."""
    x, first = run_on(student, SHAPES["3d"])
    changed = x.clone()
    changed[:, 2] = draw.normal(2, 4)
    runs = with_weights(student).run_each(Run(changed), Run(x))
    before, after, again = (answer.tensor for answer in (first, *runs))
    expect_like(before, x, OUTPUT)
    expect_repeated(before, again, OUTPUT)
    expect_like(after, x, OUTPUT)
    others = [0, 1, 3, 4]
    if not close(after[:, others], before[:, others]):
        raise fail(
            "When one token changes, the output of other tokens changes too. The FFN works on "
            "each token on its own. See slides 24 and 31 to 32."
        )
    if close(after[:, 2], before[:, 2]):
        raise fail("When one token changes, its output stays the same.")


def test_shape_kept(student: Student, draw: Draw) -> None:
    """The output has the input's shape, with two to four dimensions and for a single token."""
    seen = [run_on(student, shape) for shape in SHAPES.values()]
    single = [draw.normal(1, 4), draw.normal(1, 1, 4)]
    seen += zip(single, build(student).run_each(*map(Run, single)), strict=True)
    for x, answer in seen:
        expect_shape(answer.tensor, tuple(x.shape), OUTPUT)


def run_with_gradient(student: Student) -> tuple[Tensor, Module, Answer]:
    """An input, an FFN and a run with a gradient, the same for every test that asks.

    Raises:
        StudentFaultError: if the output is another one than without a gradient.
    """

    def create() -> tuple[Tensor, Module, Answer]:
        x, plain = run_on(student, SHAPES["2d"])
        module = with_weights(student)
        upstream = Draw("gradient").normal(*SHAPES["2d"])
        return x, module, with_gradient(module, x, upstream, plain, OUTPUT)

    return student.once("gradient", create)


def test_gradients_reach_input(student: Student) -> None:
    """The input receives a gradient that is not all zeros."""
    x, _, answer = run_with_gradient(student)
    expect_like(answer.tensor, x, OUTPUT)
    gradient = answer.input_gradients.get(0)
    if gradient is None or not bool((gradient != 0).any()):
        raise fail("No gradient reaches the input of FFN. Something cuts it, such as detach.")
    expect_like(gradient, x, "The gradient of the input")


def test_gradients_reach_parameters(student: Student) -> None:
    """Every parameter receives a gradient that is not all zeros."""
    x, module, answer = run_with_gradient(student)
    if not module.trainable:
        raise fail("FFN has no parameters to train. Layers must be attributes made in __init__.")
    expect_like(answer.tensor, x, OUTPUT)
    for name in sorted(module.trainable):
        gradient = answer.parameter_gradients.get(name)
        if gradient is None or not bool((gradient != 0).any()):
            raise fail(
                f"No gradient reaches {module.called(name)}: it plays no part in the output, or "
                "something such as detach cuts the gradient."
            )
        expect_like(gradient, module.parameters[name], f"The gradient of {module.called(name)}")


def test_works_on_the_input(student: Student) -> None:
    """The output takes several values of the input together, with the network's parameters."""
    expect_work(work(student), OUTPUT)
