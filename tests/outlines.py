"""What tests of outlines share: files made and read."""

from __future__ import annotations

from pathlib import Path

from grader.sandbox.outline import outline_of
from grader.sandbox.vocabulary import FunctionOutline, Outline

IMPORTS = """\
import numpy as np
import torch
import torch.nn as nn
from torch.nn import functional as F
from torch.nn.functional import gelu as g

"""


def outline(folder: Path, source: str | bytes) -> Outline:
    """The outline of one file, as it crosses the boundary."""
    path = folder / "answer.py"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    return Outline.model_validate(outline_of(path))


def functions(folder: Path, source: str) -> tuple[FunctionOutline, ...]:
    """The functions of a file that begins with the usual imports."""
    found = outline(folder, IMPORTS + source)
    assert found.unreadable == ""
    return found.functions


def function(folder: Path, *body: str) -> FunctionOutline:
    """A function f(self, x, y) with the given lines."""
    (found,) = functions(folder, "def f(self, x, y):\n" + "".join(f"    {b}\n" for b in body))
    return found
