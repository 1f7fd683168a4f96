"""Hidden tests of milestone 1: LayerNorm from scratch."""

import functools

import pytest
import torch
from torch import Tensor

from grader.errors import StudentFaultError
from grader.examiner.answers import Answer, fail
from grader.examiner.checks import (
    Draw,
    close,
    expect_close,
    expect_like,
    expect_repeated,
    input_gradient,
)
from grader.examiner.diagnosis.layernorm import CHANGES, diagnose
from grader.examiner.student import Student
from grader.examiner.work import Look, expect_work, look, takes_values_together
from grader.lesson.mathematics import normalise as normalise_anew
from grader.lesson.variants import layer_norm_function, variants

FUNCTION = "layernorm_scratch"
LOOKED_FOR = (FUNCTION,)
DIAGNOSE = diagnose
VARIANTS = variants(
    "PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]\nlayernorm_scratch =",
    layer_norm_function,
    CHANGES,
)
RESULT = f"The result of {FUNCTION}"
# Every submission meets the same inputs, so what is right for them is kept, by their identity.
normalise = functools.lru_cache(256)(normalise_anew)
right_gradient = functools.lru_cache(8)(functools.partial(input_gradient, normalise_anew))

# PyTorch's own names for a normalisation, as functions and as nodes of the gradient graph.
BUILT_INS = ("layer_norm", "group_norm", "batch_norm", "instance_norm", "rms_norm", "layernorm",
             "groupnorm", "batchnorm", "rmsnorm")  # fmt: skip
# Functions that tell of a tensor without taking its values into account.  Whatever makes a result
# out of a tensor, in torch or elsewhere, calls another one on the way.
LOOKS_ONLY = frozenset(
    ("", "__get__", "__len__", "__hash__", "dim", "size", "numel", "nelement", "stride", "type",
     "ndimension", "is_floating_point", "is_contiguous", "is_complex", "data_ptr", "get_device",
     "storage_offset", "untyped_storage", "element_size")
)  # fmt: skip


def hint(student: Student, text: str) -> str:
    """A hint for inputs that are special in one way, if ordinary inputs come out right.

    Where those are wrong too the hint would point to the wrong place, and is left out.
    """

    def ordinary_is_right() -> bool:
        x = Draw("ordinary").tokens(3, 6, mean=0.5, std=3.0)
        return close(student.call(FUNCTION, x).tensor, normalise(x))

    return f" {text}" if student.once("ordinary", ordinary_is_right) else ""


def expect_normalised(answer: Answer, x: Tensor, otherwise: str, eps: float = 1e-5) -> None:
    """The answer is LayerNorm of x over its last dimension."""
    expect_close(answer.tensor, normalise(x, eps), RESULT, otherwise)


def test_prediction(student: Student) -> None:
    """The student predicted xhat of [1, 3, 5, 7] to four decimals."""
    predicted = student.constant("PREDICTED_XHAT")
    if predicted is None:
        raise fail("PREDICTED_XHAT is still None. Work it out on paper and write it down.")
    numbers = predicted[0] if isinstance(predicted, list) and len(predicted) == 1 else predicted
    if not isinstance(numbers, list) or not all(type(n) in (int, float) for n in numbers):
        raise fail("PREDICTED_XHAT must be a list of four numbers.")
    found = torch.tensor(numbers, dtype=torch.float64)
    expected = normalise(torch.tensor([1.0, 3.0, 5.0, 7.0], dtype=torch.float64))
    # Two units of the fourth decimal: it may be cut instead of rounded, as may what it is made of.
    if found.shape != expected.shape or bool(((found - expected).abs() > 2e-4).any()):
        raise fail("PREDICTED_XHAT is not xhat of [1, 3, 5, 7]. See slides 10 and 51.")


@pytest.mark.parametrize(
    "shape", [(8,), (5, 8), (2, 5, 8), (2, 3, 5, 8)], ids=["1d", "2d", "3d", "4d"]
)
def test_matches_shape(student: Student, draw: Draw, shape: tuple[int, ...]) -> None:
    """Inputs with one to four dimensions are normalised over the last one."""
    x = draw.tokens(*shape, mean=2.0, std=3.0)
    expect_normalised(
        student.call(FUNCTION, x),
        x,
        f"For a {len(shape)}-D input the values differ from nn.LayerNorm. See slides 5 and 10.",
    )


def test_matches_float64(student: Student, draw: Draw) -> None:
    """float64 in, float64 out, with its precision."""
    x = draw.tokens(3, 6, mean=-1.0, std=2.0, dtype=torch.float64)
    expect_normalised(
        student.call(FUNCTION, x),
        x,
        "For a float64 input the values differ from nn.LayerNorm. See slides 5 and 10.",
    )


def test_matches_other_sizes(student: Student, draw: Draw) -> None:
    """Nothing depends on one particular number of features or tokens."""
    inputs = [draw.tokens(*shape, mean=1.0) for shape in ((1, 4), (4, 4), (3, 17), (6, 5))]
    for x, answer in zip(inputs, student.call_each(FUNCTION, *inputs), strict=True):
        expect_normalised(
            answer,
            x,
            "For some numbers of tokens and features the values differ from nn.LayerNorm. See "
            "slides 5 and 10.",
        )


def test_sound_large_mean(student: Student, draw: Draw) -> None:
    """A mean a thousand times the deviation does not drown the result in rounding."""
    x = draw.tokens(8, 16, mean=1000.0, std=1.25)
    actual = student.call(FUNCTION, x).tensor
    expected = normalise(x.double()).float()
    expect_like(actual, expected, RESULT)
    if not close(actual, expected, magnification=1000.0):
        cause = "A frequent cause: the difference of two large squares loses its digits."
        raise fail(f"For a large mean the values differ from nn.LayerNorm.{hint(student, cause)}")


def test_sound_tiny_variance(student: Student, draw: Draw) -> None:
    """With a variance as small as eps, eps stands inside the root."""
    x = draw.tokens(4, 8, std=3e-3)
    actual = student.call(FUNCTION, x).tensor
    expect_like(actual, x, RESULT)
    if not close(actual, normalise(x)):
        cause = "Check where eps is added in the formula of slide 5."
        raise fail(
            f"For a very small variance the values differ from nn.LayerNorm.{hint(student, cause)}"
        )


def test_sound_other_eps(student: Student, draw: Draw) -> None:
    """The argument eps is used, also when it is large."""
    x = draw.tokens(4, 8)
    actual = student.call(FUNCTION, x, arguments={"eps": 0.5}).tensor
    expect_like(actual, x, RESULT)
    if not close(actual, normalise(x, eps=0.5)):
        cause = "Check that the argument eps is used, and where it is added."
        raise fail(
            f"With another eps the values differ from nn.LayerNorm with that eps."
            f"{hint(student, cause)}"
        )


def test_sound_constant_rows(student: Student) -> None:
    """A token whose features are all equal becomes zeros, not NaN."""
    x = torch.tensor([[3.0, 3.0, 3.0, 3.0], [-2.0, -2.0, -2.0, -2.0], [0.0, 0.0, 0.0, 0.0]])
    expect_close(
        student.call(FUNCTION, x).tensor,
        torch.zeros_like(x),
        f"{RESULT} for tokens whose features are all equal",
        "A token whose features are all equal must become zeros.",
    )


def call_with_changes(student: Student) -> tuple[Tensor, list[Answer]]:
    """A batch and what came of it, of it with other tokens and other sequences, and of it again.

    All sequences keep their first token, and the first sequence keeps all of its tokens.
    """

    def create() -> tuple[Tensor, list[Answer]]:
        draw = Draw("changes")
        x = draw.tokens(3, 4, 8)
        tokens, sequences = x.clone(), x.clone()
        tokens[:, 1:] = draw.tokens(3, 3, 8, mean=5.0, std=4.0)
        sequences[1:] = draw.tokens(2, 4, 8, mean=-5.0, std=4.0)
        return x, student.call_each(FUNCTION, x, tokens, sequences, x)

    return student.once("changes", create)


def test_independent_tokens(student: Student) -> None:
    """A token's result does not change with the other tokens of its sequence."""
    x, answers = call_with_changes(student)
    before, after, _, again = (answer.tensor for answer in answers)
    expect_like(before, x, RESULT)
    expect_repeated(before, again, RESULT)
    expect_like(after, x, RESULT)
    if not close(after[:, :1], before[:, :1]):
        raise fail(
            "The result of one token changes when other tokens of the sequence change. Each "
            "token must be normalised on its own. See slides 7 and 12 to 14."
        )


def test_independent_sequences(student: Student) -> None:
    """A sequence's result does not change with the other sequences of its batch."""
    x, answers = call_with_changes(student)
    before, _, after, again = (answer.tensor for answer in answers)
    expect_like(before, x, RESULT)
    expect_repeated(before, again, RESULT)
    expect_like(after, x, RESULT)
    if not close(after[:1], before[:1]):
        raise fail(
            "The result of one sequence changes when other sequences of the batch change. Each "
            "token must be normalised on its own. See slides 7 and 12 to 14."
        )


def call_with_gradient(student: Student) -> tuple[Tensor, Tensor, Answer]:
    """An input, an upstream gradient and what came of them, the same for every test that asks."""

    def create() -> tuple[Tensor, Tensor, Answer]:
        draw = Draw("gradient")
        x, upstream = draw.tokens(2, 3, 8, mean=1.0, std=0.7), draw.normal(2, 3, 8)
        return x, upstream, student.call(FUNCTION, x, upstream=upstream, operators=True)

    return student.once("gradient", create)


def test_gradients_of_input(student: Student) -> None:
    """The gradient with respect to the input is that of LayerNorm."""
    x, upstream, answer = call_with_gradient(student)
    expect_like(answer.tensor, x, RESULT)
    if 0 not in answer.input_gradients:
        raise fail(
            "No gradient reaches the input. Something cuts it: detach, .data, torch.no_grad, "
            "NumPy, or a new tensor made from numbers."
        )
    if not close(answer.tensor, normalise(x)):
        raise fail(
            "The values differ from nn.LayerNorm when a gradient is asked for, so the gradient is "
            "that of something else. See slides 5 and 10."
        )
    gradient = answer.input_gradients[0]
    expect_like(gradient, x, "The gradient of the input")
    if not close(gradient, right_gradient(x, upstream)):
        cause = "Mean and variance depend on x too: gradients must flow through them."
        raise fail(f"The gradient differs from that of nn.LayerNorm.{hint(student, cause)}")


def call_looking_on(student: Student) -> tuple[Tensor, Answer]:
    """An input and a call on it, with what took part in it and with the input afterwards."""

    def create() -> tuple[Tensor, Answer]:
        # Two dimensions, as code that takes no other number of them loses its points elsewhere.
        x = Draw("looking on").tokens(3, 8, mean=1.0)
        return x, student.call(FUNCTION, x, operators=True, input_after=True)

    return student.once("looking on", create)


def test_input_unchanged(student: Student) -> None:
    """The input holds the same values after the call."""
    x, answer = call_looking_on(student)
    expect_like(answer.tensor, x, RESULT)
    if answer.input_after is None or not close(answer.input_after, x):
        raise fail(
            "The function changes its input. Operations such as -= or sub_ write into x. Make a "
            "new tensor instead."
        )


def may_call_built_ins(names: frozenset[str] | None) -> bool:
    """Whether a source with these names may call one of PyTorch's own normalisations."""
    return names is None or any(map(is_built_in, names - {FUNCTION}))


TELLING = may_call_built_ins


def built_ins_called(student: Student) -> list[str]:
    """PyTorch's own normalisations that the source calls on the way to the result."""
    if not may_call_built_ins(student.names):
        return []
    calls = [call for function in student.source_of(FUNCTION) for call in function.calls]
    foreign = [c for c in calls if c.startswith("torch.") or not ("." in c or student.defines(c))]
    return [call for call in foreign if is_built_in(call.rpartition(".")[2])]


def seen_with_gradient(student: Student) -> tuple[str, ...]:
    """What took part where a gradient was asked for, as far as the code takes part in that."""
    try:
        return call_with_gradient(student)[2].operators
    except StudentFaultError:
        return ()  # the test of the gradient says why


def is_built_in(name: str) -> bool:
    """Tell whether a function, class or node of the gradient graph is a normalisation."""
    return any(built_in in name.lower() for built_in in BUILT_INS)


def test_built_by_hand(student: Student) -> None:
    """No built-in normalisation takes part: neither in what ran nor in the source.

    A call that is hidden from the record of functions still stands in the gradient's graph.  Where
    neither shows anything that could make the result, it was worked out behind the record.
    """
    x, answer = call_looking_on(student)
    expect_like(answer.tensor, x, RESULT)
    seen = {*answer.operators, *seen_with_gradient(student)}
    if seen <= LOOKS_ONLY and close(answer.tensor, normalise(x)):
        raise fail("What the result is computed with is hidden, so nothing shows that it is yours.")
    if any(map(is_built_in, seen)) or built_ins_called(student):
        raise fail(
            "The result comes from a built-in normalisation of PyTorch. In this milestone it is "
            "written by hand, with mean, variance and a root. See slide 49."
        )


def work(student: Student) -> Look:
    """Whether the function works on its input at all, rightly or not."""

    def right() -> bool:
        x, answer = call_looking_on(student)
        return close(answer.tensor, normalise(x))

    def works(*shape: int) -> bool:
        return takes_values_together(
            Draw("work").normal(*shape),
            lambda *inputs: student.call_each(FUNCTION, *inputs),
            lambda x, upstream: student.call(FUNCTION, x, upstream=upstream),
        )

    return look([right, lambda: works(3, 8), lambda: works(2, 3, 8), lambda: works(3, 4)])


def test_works_on_the_input(student: Student) -> None:
    """Each result takes several values of the input together, as mean and variance do."""
    expect_work(work(student), RESULT)
