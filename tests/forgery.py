"""Hidden tests and diagnosis on answers that are not what honest code gives.

The solution answers; then what it says is changed at random before it comes to the gate.
"""

from __future__ import annotations

import importlib
import inspect
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from grader.errors import FrameError
from grader.examiner.diagnosis.finding import Budget
from grader.examiner.examination import Examination
from grader.examiner.gate import MAX_PARAMETERS, admit
from grader.examiner.messages import Setup, SuiteMilestone
from grader.examiner.plugin import finding
from grader.examiner.source import names_are_enough
from grader.examiner.transport import Answer, InProcess, Question
from grader.model import Verdict
from grader.sandbox.vocabulary import parse_envelope
from grader.sandbox.wire import decode_header, encode_frame
from tests.support import SOLUTIONS

Body = dict[str, Any]
Tensors = dict[str, Tensor]
# Changes an answer and its tensors in place.
Change = Callable[[random.Random, Body, Tensors], None]
MILESTONES = (
    SuiteMilestone(id="layernorm", file="milestone1_layernorm.py",
                   suite="test_milestone1_layernorm.py"),
    SuiteMilestone(id="ffn", file="milestone2_ffn.py", suite="test_milestone2_ffn.py"),
    SuiteMilestone(id="encoder-block", file="milestone3_encoder_block.py",
                   suite="test_milestone3_encoder_block.py"),
)  # fmt: skip
SETUP = Setup(
    root="", suites=(), milestones=MILESTONES, solutions=str(SOLUTIONS), question_seconds=10,
    submission_seconds=120, memory_mb=1024, output_kb=1, jobs=1, seed=1,
)  # fmt: skip
# Of the diagnosis: enough for every question, and for some of the search.
DIAGNOSIS_SECONDS = 0.15
DTYPES = (
    torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.int32,
    torch.int8, torch.uint8, torch.bool, torch.complex64, torch.float8_e4m3fn,
)  # fmt: skip
NUMBERS = (float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 0.0, 1e-45)


@dataclass(frozen=True)
class Forgery:
    """Which answers are changed, and how.

    Attributes:
        seed: of the random numbers by which it is done.
        question: kind of the questions whose answers are changed.
        changes: what is done to each of them.
        share: how many of them are changed, of 1.
    """

    seed: int
    question: str
    changes: tuple[Change, ...]
    share: float


class Forging(InProcess):
    """The solution's answers, changed."""

    def __init__(self, folder: Path, forgery: Forgery) -> None:
        super().__init__(folder)
        self._forgery = forgery
        self._random = random.Random(forgery.seed)

    def ask(self, question: Question, tensors: Tensors) -> Answer:
        """Answer, as a worker would that student code has taken over."""
        parts = question.get("questions", [question])
        for part in parts:
            self._leave_out_what_is_not_there(part, tensors)
        header, carried = self._runtime.answer({**question, "id": 1}, tensors)
        bodies = header["body"].get("replies", [header["body"]])
        for part, body in zip(parts, bodies, strict=True):
            chosen = self._random.random() < self._forgery.share
            if part["question"] == self._forgery.question and chosen:
                for change in self._forgery.changes:
                    change(self._random, body, carried)
        try:
            reply = parse_envelope(decode_header(encode_frame(header)[8:])).body
            return admit(question, reply, carried, told=True)
        except ValueError as error:  # a frame that no worker can write
            self.restart()
            raise FrameError(str(error)) from error
        except FrameError:
            self.restart()
            raise

    def _leave_out_what_is_not_there(self, part: Body, tensors: Tensors) -> None:
        """A module whose parameters were made up runs all the same."""
        module = self._runtime.built.get(part.get("handle", -1))
        if module is not None:
            shapes = {name: value.shape for name, value in module.named_parameters()}
            sent = part["parameters"].items()
            part["parameters"] = {n: k for n, k in sent if shapes.get(n) == tensors[k].shape}


def turned(tensor: Tensor, chance: random.Random) -> Tensor:
    """Another tensor in the place of one."""
    if not tensor.dtype.is_floating_point:  # turned before: small integers hold no odd numbers
        tensor = tensor.to(torch.float32)
    kind = chance.randrange(9)
    if kind < 3:
        return tensor.to(chance.choice(DTYPES))
    if kind == 3:
        return torch.full_like(tensor, chance.choice(NUMBERS))
    if kind == 4:
        spoiled = tensor.clone().flatten()
        spoiled[: spoiled.numel() // 2] = chance.choice(NUMBERS)
        return spoiled.view(tensor.shape)
    if kind == 5:
        return tensor[..., None] if chance.random() < 0.5 else tensor.flatten()
    if kind == 6:
        return tensor[:0] if tensor.dim() else tensor.new_zeros((0, 1 << 40))
    if kind == 7:
        return tensor.transpose(0, -1) if tensor.dim() else tensor.new_ones(3)
    shapes: list[tuple[int, ...]] = [(), (1,), (2, 5, 8), (1,) * 70, (1 << 21,), (8, 8), (16, 4)]
    return torch.ones(chance.choice(shapes), dtype=chance.choice(DTYPES[:9]))


def keys_in(value: Any) -> Iterator[tuple[dict[str, Any], str]]:
    """Every place in an answer that names a tensor."""
    if isinstance(value, list):
        for item in value:
            yield from keys_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str) and item[:1] == "t" and item[1:].isdecimal():
                yield value, key
            else:
                yield from keys_in(item)


def turn_one(chance: random.Random, body: Body, tensors: Tensors) -> None:
    """One tensor is another one, in one of the places that name it."""
    places = list(keys_in(body))
    if places:
        owner, key = chance.choice(places)
        new = f"t{1000 + len(tensors)}"
        tensors[new] = turned(tensors.get(owner[key], torch.ones(())), chance)
        owner[key] = new


def turn_all(chance: random.Random, body: Body, tensors: Tensors) -> None:
    """Every tensor has another dtype, or all are spoiled alike."""
    dtype, number = chance.choice(DTYPES), chance.choice((None, *NUMBERS))
    for owner, key in list(keys_in(body)):
        tensor = tensors.get(owner[key], torch.ones(()))
        new = f"t{1000 + len(tensors)}"
        tensors[new] = tensor.to(dtype) if number is None else torch.full(tensor.shape, number)
        owner[key] = new


def turn_seen(chance: random.Random, body: Body, tensors: Tensors) -> None:
    """What watched children received and returned is something else."""
    observations = body.get("observations")
    for seen in observations if isinstance(observations, list) else []:
        if chance.random() < 0.5:
            turn_one(chance, seen, tensors)


def swap_keys(chance: random.Random, body: Body, tensors: Tensors) -> None:
    """A tensor stands where another one should, or one that is not there."""
    places = list(keys_in(body))
    if places:
        owner, key = chance.choice(places)
        other, name = chance.choice(places)
        owner[key] = chance.choice([other[name], "t99999", ""])


def replace_value(chance: random.Random, body: Body, tensors: Tensors) -> None:
    """Any part of the answer is something else."""
    owner: Any = body
    key: Any = chance.choice(sorted(body))
    while chance.random() < 0.6 and isinstance(owner[key], dict | list) and owner[key]:
        owner = owner[key]
        key = chance.choice(sorted(owner) if isinstance(owner, dict) else range(len(owner)))
    nested: Any = 0
    for _ in range(300):
        nested = [nested]
    tensor = {"kind": "tensor", "key": "t0"}
    owner[key] = chance.choice(
        [None, True, -1, 1e300, 10**400, 1 << 62, "x" * 200, "", [], {}, [1, [2.5]], nested,
         {"kind": "foreign", "what": "NoneType"}, {"kind": "sequence", "items": [tensor] * 3},
         {"kind": "sequence", "items": []}, ["0"] * 3, {"0": "t0"}, [[1.0] * 4], "148"]
    )  # fmt: skip


def drop_or_repeat(chance: random.Random, body: Body, tensors: Tensors) -> None:
    """Parts of a list or a mapping are missing, there twice, or in another order."""
    lists = [value for value in body.values() if isinstance(value, list | dict) and value]
    if not lists:
        return
    chosen = chance.choice(lists)
    if isinstance(chosen, dict):
        chosen.pop(chance.choice(sorted(chosen)))
    elif chance.random() < 0.5:
        chosen.pop(chance.randrange(len(chosen)))
    else:
        chosen.insert(0, chance.choice(chosen))
        chance.shuffle(chosen)


def rename(chance: random.Random, body: Body, tensors: Tensors) -> None:
    """Parameters, children and files have other names."""
    parts = [body.get(key) for key in ("parameters", "children")]
    for part in [part for found in parts if isinstance(found, list) for part in found]:
        if isinstance(part, dict) and chance.random() < 0.5:
            part["name"] = chance.choice(["", ".", "norm1", "attn.q", "ffn", "a" * 300, "\ud7ff"])


def more_parameters(chance: random.Random, body: Body, tensors: Tensors) -> None:
    """A module holds more than any test needs."""
    shapes = [(16, 4), (4, 16), (4,), (32, 8), (8, 32), (8, 8), (8,), (), (0, 5), (1, 1, 8)]
    count = chance.choice([1, 5, 60, MAX_PARAMETERS, 600])
    for number in range(count if isinstance(body.get("parameters"), list) else 0):
        key = f"t{1000 + len(tensors)}"
        tensors[key] = torch.ones(chance.choice(shapes))
        claim = {"name": f"p{number}", "key": key, "requires_grad": chance.random() < 0.8}
        body["parameters"].insert(chance.randrange(3), claim)


def raise_instead(chance: random.Random, body: Body, tensors: Tensors) -> None:
    """A fault comes instead, of any origin."""
    origins = ["code", "not-found", "refused", "too-many-parameters", "gradient-cut", "wrong-shape"]
    kinds = ["NameNotFoundError", "SyntaxError", "NotImplementedError", "misspelled", ""]
    fault = {
        "kind": chance.choice(kinds),
        "message": chance.choice(["", "0.1234", "positional argument"]),
        "origin": chance.choice(origins),
        "line": chance.choice([0, 3, 99_999_999]),
        "quotable": True,
    }
    body.clear()
    body |= {"reply": "faulted", "fault": fault}


CHANGES: tuple[Change, ...] = (
    turn_one, turn_all, turn_seen, swap_keys, replace_value, drop_or_repeat, rename,
    more_parameters, raise_instead,
)  # fmt: skip
QUESTIONS = {
    "layernorm": ("outline", "names", "load", "constant", "call", "call", "call"),
    "ffn": ("load", "constant", "build", "build", "run", "run"),
    "encoder-block": ("load", "constant", "build", "build", "run", "run", "run"),
}


@lru_cache(None)
def suite(milestone: SuiteMilestone) -> ModuleType:
    """The module with a milestone's hidden tests."""
    return importlib.import_module(f"grader.suites.{milestone.suite.removesuffix('.py')}")


@lru_cache(None)
def hidden_tests(milestone: SuiteMilestone) -> tuple[tuple[str, Callable[..., None], Body], ...]:
    """Id, function and parameters of each hidden test of a milestone."""
    found = []
    for name, function in inspect.getmembers(suite(milestone), inspect.isfunction):
        if name.startswith("test_"):
            marks = getattr(function, "pytestmark", [])
            cases = [{mark.args[0]: value} for mark in marks for value in mark.args[1]] or [{}]
            found += [(f"{name}[{number}]", function, case) for number, case in enumerate(cases)]
    return tuple(sorted(found, key=lambda test: inspect.getsourcelines(test[1])[1]))


def examined(transport: InProcess, milestone: SuiteMilestone) -> tuple[list[Body], Body]:
    """What every hidden test of a milestone says, and its diagnosis."""
    examination = Examination(
        SETUP, {m.id: [m.file] for m in MILESTONES}, SOLUTIONS, None, transport=transport
    )
    examination._budget = Budget(seconds=DIAGNOSIS_SECONDS)
    module, said = suite(milestone), []
    telling = getattr(module, "TELLING", names_are_enough)
    for name, function, case in hidden_tests(milestone):
        examination.turn_to(milestone.suite, module.LOOKED_FOR, name, telling)
        given = {"student": examination.student, "draw": examination.draw, **case}
        try:
            function(**{key: given[key] for key in inspect.signature(function).parameters})
            said.append({"test": name, "verdict": Verdict.PASSED.value})
        except Exception as error:
            said.append({"test": name, **finding(error)})
    examination.diagnose(milestone.suite, module)
    examination.end()
    return said, dict(examination.findings.get(milestone.id, {}))
