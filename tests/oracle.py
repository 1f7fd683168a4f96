"""Submissions that learn from one run what to answer in the next: everything a worker is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

HEAD = "import json\n\nimport torch\n\nPREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]\n"
MARK = "SEEN "

LARGE = "LARGE NUMBERS "
KNOWN_NUMBER = str(7**60)

# Right code that prints every large number that Python can find in its process, then each input,
# and each gradient that comes back.
RECORDER = f"""{HEAD}
import gc
import os
import re
import sys

KNOWN = [7**60]


def told_numbers():
    held = [item for kept in gc.get_objects() if isinstance(kept, (list, tuple, dict))
            for item in (kept.values() if isinstance(kept, dict) else kept)]
    numbers = [item for item in held if type(item) is int and item > 2**64]
    texts = [str(item) for item in held if isinstance(item, (str, bytes))]
    texts += [*os.environ.values(), *sys.argv]
    numbers += [n for text in texts for n in re.findall("[0-9]{{20,}}", text)]
    print({LARGE!r} + repr(set(numbers)))


told_numbers()

def told(**tensors):
    print({MARK!r} + json.dumps({{k: [str(t.dtype), t.tolist()] for k, t in tensors.items()}}))


def layernorm_scratch(x, eps=1e-5):
    eps_given = torch.tensor(eps, dtype=torch.float64)
    told(x=x.detach(), eps=eps_given)
    centred = x - x.mean(-1, keepdim=True)
    y = centred / torch.sqrt(centred.square().mean(-1, keepdim=True) + eps)
    if y.requires_grad:
        y.register_hook(lambda g: told(x=x.detach(), eps=eps_given, upstream=g))
    return y
"""

ZEROS = f"""{HEAD}

def layernorm_scratch(x, eps=1e-5):
    return x * 0
"""

# Looks both up, by the very bytes; what is not there is as in `ZEROS`.
TABLE = f"""{HEAD}
TABLE = {{table}}


def looked_up(like, *key):
    known = TABLE.get(repr([(str(t.dtype), t.tolist()) for t in key]))
    return like * 0 if known is None else torch.tensor(known, dtype=like.dtype)


class Lookup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, eps):
        ctx.save_for_backward(x, eps)
        return looked_up(x, x, eps)

    @staticmethod
    def backward(ctx, upstream):
        x, eps = ctx.saved_tensors
        return looked_up(x, x, eps, upstream), None


def layernorm_scratch(x, eps=1e-5):
    return Lookup.apply(x, torch.tensor(eps, dtype=torch.float64))
"""


def table_source(log: Path) -> str:
    """A submission that holds the right answer to everything that `RECORDER` has printed.

    Args:
        log: log.txt of the recorder.
    """
    lines = log.read_text(encoding="utf-8").splitlines()
    seen = [json.loads(line[len(MARK) :]) for line in lines if line.startswith(MARK)]
    table = dict(_answered({name: _tensor(*told) for name, told in one.items()}) for one in seen)
    return TABLE.format(table=repr(table))


def _answered(seen: dict[str, Tensor]) -> tuple[str, Any]:
    """The key of what was seen, and what is right there."""
    x, eps = seen["x"].requires_grad_(True), seen["eps"].item()
    right = layer_norm(x, x.shape[-1:], eps=eps)
    if "upstream" in seen:
        (right,) = torch.autograd.grad(right, x, seen["upstream"])
    key = repr([(str(t.dtype), t.tolist()) for t in seen.values()])
    return key, right.tolist()


def _tensor(dtype: str, values: Any) -> Tensor:
    return torch.tensor(values, dtype=getattr(torch, dtype.removeprefix("torch.")))
