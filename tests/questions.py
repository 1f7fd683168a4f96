"""A student's file with a bit of everything, and questions about it for a runtime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor

from grader.sandbox.runtime import Runtime
from grader.sandbox.vocabulary import Faulted, Reply, parse_envelope
from grader.sandbox.wire import decode_header, encode_frame

Tensors = dict[str, Tensor]
# Tests look at keys of the kind of reply that they expect; another kind fails them there.
Asked = tuple[Any, Tensors]

FILE = "runtime_answer.py"
SOURCE = """\
import torch
from torch import nn

ANSWER = 840
EARLIER = 148
EARLIER = [1.5, None]
TENSOR = torch.ones(2)
ENDLESS = []
ENDLESS.append(ENDLESS)

def norm(x, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()

def in_place(x):
    x += 1
    return x

def pair(x):
    return x, [x + 1, "text"]

def nothing(x):
    pass

def detached(x):
    return x.detach() * 2

def raising(x):
    return helper(x)

def helper(x):
    raise ValueError("no " + str(tuple(x.shape)))

def posing(x):
    raise type("NameNotFoundError", (Exception,), {})("absent")

def leaving(x):
    raise SystemExit(3)

def loud_name(x):
    raise type("N" * 1000, (Exception,), {"__str__": lambda self: 1 / 0})()

class RaisingBackward(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        raise ValueError("no way back")

def no_way_back(x):
    return RaisingBackward.apply(x)

def wordy(x):
    raise ValueError("w" * 5000)

def down(x, depth=0):
    if depth == 50:
        raise ValueError("deep")
    return down(x, depth + 1)

def shorter(x):
    return x[:1]

def new_tensor(x):
    return torch.ones(2, requires_grad=torch.is_grad_enabled()) * 1

def settings(x):
    torch.set_default_dtype(torch.float64)
    torch.set_grad_enabled(False)
    return x

def native(x):
    return torch.native_layer_norm(x, (4,), None, None, 1e-5)[0]

def module_norm(x):
    return nn.LayerNorm(4)(x)

def by_hand(x):
    return x - x.mean(-1, keepdim=True)

class Unit(nn.Module):
    def __init__(self, d, f=3):
        super().__init__()
        self.lin = nn.Linear(d, f)
        self.frozen = nn.Parameter(torch.ones(d), requires_grad=False)
        self.register_buffer("count", torch.zeros(1))
        self.drop = nn.Dropout(0.5)
        self.inner = nn.Sequential(nn.Linear(f, d), nn.Tanh())

    def forward(self, x):
        return self.inner(self.drop(self.lin(x))) + self.frozen

class Odd(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Identity()
        self.last = nn.Identity()

    def forward(self, x):
        self.last(self.part(x)); self.part(input=x + 1)
        return None

    def named_parameters(self, *args, **kwargs):
        raise RuntimeError("overridden")

    def train(self, mode=True):
        raise RuntimeError("overridden")

class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Identity()

    def forward(self, x):
        for _ in range(300):
            self.part(x)
        return torch.tensor(float(len(self.part._forward_hooks)))

class NotAModule:
    def __init__(self, d):
        pass
"""


class Questions:
    """Puts questions about SOURCE in this process; each reply goes through JSON and the schema.

    Args:
        folder: where to write the file.
    """

    def __init__(self, folder: Path) -> None:
        (folder / FILE).write_text(SOURCE, encoding="utf-8")
        self._runtime = Runtime(folder)
        self.put("load", definitions_only=False)

    def put(self, question: str, carried: Tensors | None = None, **given: Any) -> Asked:
        """Put one question; what stands in `given` are its further keys."""
        asked = {"question": question, "id": 5, "file": FILE, **given}
        header, tensors = self._runtime.answer(asked, carried or {})
        envelope = parse_envelope(decode_header(encode_frame(header)[8:]))
        assert envelope.id == 5
        return envelope.body, tensors

    def call(self, function: str, x: Tensor, upstream: Tensor | None = None, **given: Any) -> Asked:
        """Ask for a call with one tensor."""
        question: dict[str, Any] = {"function": function, "arguments": []}
        question |= {**_common(upstream), **given}
        return self.put("call", _sent(x, upstream), **question)

    def build(self, name: str, *arguments: tuple[str, int], seed: int = 0) -> Asked:
        """Ask for a module."""
        pairs = [list(pair) for pair in arguments]
        question: dict[str, Any] = {"class": name, "seed": seed, "arguments": pairs}
        return self.put("build", **question)

    def run(
        self,
        handle: int,
        x: Tensor,
        upstream: Tensor | None = None,
        values: Tensors | None = None,
        **given: Any,
    ) -> Asked:
        """Ask for a run of a built module, with values for some of its parameters."""
        named = {name: f"p.{name}" for name in values or {}}
        sent = {f"p.{name}": value for name, value in (values or {}).items()}
        question: dict[str, Any] = {
            "handle": handle,
            "parameters": named,
            "mode": "eval",
            "watch": [],
            **_common(upstream),
            **given,
        }
        return self.put("run", {**_sent(x, upstream), **sent}, **question)


def fault(reply: Reply) -> tuple[str, str, int]:
    """Kind, message and line of a fault."""
    assert isinstance(reply, Faulted)
    return reply.fault.kind, reply.fault.message, reply.fault.line


def line_of(text: str) -> int:
    """Number of a line of SOURCE."""
    return SOURCE.splitlines().index(text) + 1


def _common(upstream: Tensor | None) -> dict[str, Any]:
    wanted = "" if upstream is None else "upstream"
    return {"tensors": [["x", "x0"]], "upstream": wanted, "operators": False, "input_after": False}


def _sent(x: Tensor, upstream: Tensor | None) -> Tensors:
    return {"x0": x} if upstream is None else {"x0": x, "upstream": upstream}
