"""The words that cross the boundary: replies as strict models.

Questions come from the trusted side and are plain dictionaries with a `question` key; replies
come from student code, so every key, type and length is checked here before it is looked at.
A tensor is named in the header and carried in the payload under that name.
"""

from __future__ import annotations

from typing import Annotated, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from grader.errors import FrameError

Word = Annotated[str, Field(max_length=300)]
Line = Annotated[int, Field(ge=0, le=100_000_000)]
Count = Annotated[int, Field(ge=0, le=1_000_000_000)]
MAX_NAMES = 5_000


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Frame(_Reply):
    """One line of a traceback inside the student's own files."""

    file: Word
    line: Line
    function: Word


# What stands behind a fault: an exception of the student's code, or one of our own findings.  Our
# words travel here, so that no name of an exception's class can be taken for one of them.
Origin = Literal[
    "code",
    "not-found",
    "refused",
    "too-many-parameters",
    "no-tensor",
    "gradient-cut",
    "wrong-shape",
]


class Fault(_Reply):
    """An exception of the student's code, or a thing that could not be found.

    Attributes:
        kind: name of the exception's class.
        message: its text, cut to a few hundred characters.
        origin: whose finding it is.
        line: line in `file`, 0 if no frame of the student's own is involved.
        quotable: whether its words may be repeated, as no hidden input had been told when they
            were said.  The gate decides that; what a worker says of it does not count.
    """

    kind: Word
    message: Annotated[str, Field(max_length=2_000)]
    origin: Origin = "code"
    file: Word = ""
    line: Line = 0
    frames: Annotated[tuple[Frame, ...], Field(max_length=20, strict=False)] = ()
    quotable: bool = False


class TensorValue(_Reply):
    """A tensor, carried in the payload as `key`."""

    kind: Literal["tensor"]
    key: Word


class SequenceValue(_Reply):
    """A tuple or a list."""

    kind: Literal["sequence"]
    items: Annotated[tuple[Value, ...], Field(max_length=64, strict=False)]


class ForeignValue(_Reply):
    """Anything else, known by what it is only: `None`, a number, a NumPy array, a meta tensor."""

    kind: Literal["foreign"]
    what: Word


Value = Annotated[Union[TensorValue, SequenceValue, ForeignValue], Field(discriminator="kind")]  # noqa: UP007
Names = Annotated[dict[Word, Word], Field(max_length=MAX_NAMES)]


class Loaded(_Reply):
    """Answer to `load`.

    Attributes:
        names: what the file defines, with its kind: class, function, module or value.
        skipped: statements at the top level that raised; the rest of the file ran.
        quotable: whether its names may be repeated; see `Fault`.
    """

    reply: Literal["loaded"]
    names: Names
    skipped: Annotated[tuple[Fault, ...], Field(max_length=10, strict=False)]
    quotable: bool = False


Listed = Annotated[tuple[Word, ...], Field(max_length=500, strict=False)]


class FunctionOutline(_Reply):
    """What the source of a function says.

    Attributes:
        name: with its class before a dot.
        calls: names called in it, with their dots, from where they were imported.
        attributes: names of attributes used.
        gives: what its return statements carry: a `value` or `none`.  Without any: `nothing`, or
            `printed` if the last statement prints a result, or `unwritten` if there is no code.
        changes: names written into, as `x -= y` does.
        keeps: attributes of `self` that it sets, with the call or the kind of value.
        fixed: names of calls that are given whole numbers as they are.
    """

    name: Word
    line: Line
    parameters: Listed
    calls: Listed
    attributes: Listed
    gives: Literal["value", "none", "nothing", "printed", "unwritten"]
    changes: Listed
    keeps: Annotated[dict[Word, Word], Field(max_length=500)]
    fixed: Listed


class ClassOutline(_Reply):
    """Name and base classes of a class."""

    name: Word
    line: Line
    bases: Listed


class Outline(_Reply):
    """What a source file says, without running it.

    Attributes:
        calls: names called at the top level.
        unreadable: why Python cannot read the file; empty otherwise.
    """

    functions: Annotated[tuple[FunctionOutline, ...], Field(max_length=500, strict=False)]
    classes: Annotated[tuple[ClassOutline, ...], Field(max_length=500, strict=False)]
    calls: Listed
    unreadable: Word


class Outlined(_Reply):
    """Answer to `outline`: what each file says."""

    reply: Literal["outlined"]
    files: Annotated[dict[Word, Outline], Field(max_length=300)]


class Named(_Reply):
    """Answer to `names`: every name that a source file uses; `None` if that is not known."""

    reply: Literal["named"]
    names: Annotated[tuple[Word, ...], Field(max_length=MAX_NAMES, strict=False)] | None


class Constant(_Reply):
    """Answer to `constant`: a literal, or what stands there instead.

    Attributes:
        earlier: the first literals that the name was bound to, the last one perhaps among them;
            nothing if nobody asks.
    """

    reply: Literal["constant"]
    value: JsonValue
    earlier: Annotated[tuple[JsonValue, ...], Field(max_length=8, strict=False)] = ()
    foreign: Word = ""


class Called(_Reply):
    """Answer to `call`.

    Attributes:
        output: what the function returned.
        input_after: payload key of the first input as it is afterwards; empty if nobody asks.
        gradients: payload keys of the inputs' gradients, by position; one that did not come
            about is absent.
        gradient_fault: why no gradient could be computed.
        operators: names of torch functions and gradient nodes that took part.
    """

    reply: Literal["called"]
    output: Value
    input_after: Word
    gradients: Names
    gradient_fault: Fault | None
    operators: Annotated[tuple[Word, ...], Field(max_length=MAX_NAMES, strict=False)]


class ParameterClaim(_Reply):
    """A parameter or buffer, carried in the payload as `key`."""

    name: Word
    key: Word
    requires_grad: bool


class ChildClaim(_Reply):
    """A module inside a built one: its dotted name and the name of its class."""

    name: Word
    type: Word


class Built(_Reply):
    """Answer to `build`.

    Attributes:
        quotable: whether names and shapes may be repeated; see `Fault`.
    """

    reply: Literal["built"]
    handle: Count
    parameters: Annotated[tuple[ParameterClaim, ...], Field(max_length=MAX_NAMES, strict=False)]
    buffers: Annotated[tuple[ParameterClaim, ...], Field(max_length=MAX_NAMES, strict=False)]
    children: Annotated[tuple[ChildClaim, ...], Field(max_length=MAX_NAMES, strict=False)]
    quotable: bool = False


class Observation(_Reply):
    """One call of a watched child: what it received and what it returned."""

    child: Word
    inputs: Annotated[tuple[Value, ...], Field(max_length=64, strict=False)]
    output: Value


class Ran(_Reply):
    """Answer to `run`, with the calls of watched children in their order."""

    reply: Literal["ran"]
    output: Value
    observations: Annotated[tuple[Observation, ...], Field(max_length=512, strict=False)]
    input_gradients: Names
    parameter_gradients: Names
    gradient_fault: Fault | None
    operators: Annotated[tuple[Word, ...], Field(max_length=MAX_NAMES, strict=False)]


class Reached(_Reply):
    """Answer to `reach`: how paths can be read, by their number in the question."""

    reply: Literal["reached"]
    ways: Annotated[dict[Word, Word], Field(max_length=MAX_NAMES)]


class Faulted(_Reply):
    """The student's code raised instead of answering."""

    reply: Literal["faulted"]
    fault: Fault


Single = Annotated[
    Union[Loaded, Outlined, Named, Constant, Called, Built, Ran, Reached, Faulted],  # noqa: UP007
    Field(discriminator="reply"),
]


class Several(_Reply):
    """Answers to several questions that were put at once, in their order."""

    reply: Literal["several"]
    replies: Annotated[tuple[Single, ...], Field(max_length=64, strict=False)]


Reply = Annotated[
    Union[  # noqa: UP007
        Loaded, Outlined, Named, Constant, Called, Built, Ran, Reached, Faulted, Several
    ],
    Field(discriminator="reply"),
]


class Envelope(_Reply):
    """A reply with the number of the question that it answers."""

    id: Count
    body: Reply


_ENVELOPE: TypeAdapter[Envelope] = TypeAdapter(Envelope)


def parse_envelope(header: dict[str, object]) -> Envelope:
    """Check a reply's header.

    Raises:
        FrameError: if it breaks the schema in any way.
    """
    try:
        return _ENVELOPE.validate_python(header)
    except ValidationError as error:
        first = error.errors()[0]
        raise FrameError(f"a reply breaks the schema at {first['loc']}: {first['msg']}") from error
