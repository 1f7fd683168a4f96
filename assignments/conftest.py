"""Lets the public tests find the milestone files, and keeps their failures short."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, NoReturn

import pytest

FOLDER = Path(__file__).resolve().parent

# In front, so that the files beside the tests are found from every working directory.
sys.path.insert(0, str(FOLDER))


def stop(message: str) -> NoReturn:
    """Fail the running test with this one line and nothing else."""
    pytest.fail(message, pytrace=False)


def fetch(module: str, name: str) -> Any:
    """Return what the file `<module>.py` defines as `name`, or fail with a short message."""
    if not (FOLDER / f"{module}.py").is_file():
        stop(f"file missing: {module}.py must lie in the same folder as the tests")
    file = importlib.import_module(module)
    if not hasattr(file, name):
        stop(f"name missing: {module}.py must define {name}; keep the names of the stub")
    value = getattr(file, name)
    if value is None:
        stop(f"not written yet: {name} in {module}.py is still None")
    return value


def create(module: str, name: str, **sizes: int) -> Any:
    """Create an object of a student's class, sizes by name if the class knows these names."""
    cls = fetch(module, name)
    if set(sizes) <= set(inspect.signature(cls).parameters):
        return cls(**sizes)
    return cls(*sizes.values())


@pytest.fixture
def student() -> Callable[[str, str], Any]:
    """The way from a test to the student's code."""
    return fetch


@pytest.fixture
def build() -> Callable[..., Any]:
    """The way from a test to an object of a student's class."""
    return create


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Turn the stub's NotImplementedError into one short line."""
    try:
        return (yield)
    except NotImplementedError as error:
        reason = str(error) or pyfuncitem.name
    # Outside the except clause, or pytest would print both errors.
    stop(f"not written yet: {reason}")
