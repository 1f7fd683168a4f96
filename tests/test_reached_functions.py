"""The functions of a file that one of them reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.examiner.source import reached_from
from tests.outlines import outline

CALLS = """\
def main(x):
    return helper(x) + Norm(4)(x) + x.unused()
def helper(x):
    return deeper(x) if x else main(x)
def deeper(x):
    return torch.sqrt(x)
def unused(x):
    return main(x)
class Norm:
    def __init__(self, d):
        self.d = from_init(d)
    def forward(self, x):
        return x
def from_init(d):
    return d
class Other(Norm):
    def forward(self, x):
        return self.helper(x)
"""


@pytest.mark.parametrize(
    ("name", "reached"),
    [
        ("main", {"main", "helper", "deeper", "Norm.__init__", "Norm.forward", "from_init"}),
        ("deeper", {"deeper"}),
        ("Norm", {"Norm.__init__", "Norm.forward", "from_init"}),
        ("Norm.forward", {"Norm.forward"}),
        ("Other", {"Other.forward"}),
        ("no_such_name", set()),
        ("", set()),
    ],
)
def test_what_a_function_calls_is_reached_from_it(
    tmp_path: Path, name: str, reached: set[str]
) -> None:
    """Directly or not, in circles too; a class stands for all of its methods."""
    found = reached_from(outline(tmp_path, CALLS), name)
    assert {f.name for f in found} == reached
    assert len(found) == len(reached)
