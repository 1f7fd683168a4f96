"""The distributions that student code may import, as far as a rubric needs to know of them."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Any

from grader.located_yaml import Located, dotted, sentence

# Where the rubric names no others.
DEFAULT_PACKAGES = ("torch", "numpy")


def is_installed(name: str) -> bool:
    """Tell whether a distribution is installed beside the grader.

    Args:
        name: as pip knows it.
    """
    try:
        importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def packages_problems(packages: Any, places: Located) -> Iterator[str]:
    """Distributions that student code may import and nobody has installed beside the grader.

    Args:
        packages: the rubric's list as plain data, perhaps invalid.
        places: where each value of the rubric stands.
    """
    for index, name in enumerate(packages if isinstance(packages, list) else ()):
        if isinstance(name, str) and not is_installed(name):
            location = ("packages", index)
            reason = f"{name} is not installed beside the grader; install it there with pip"
            yield sentence(places[location], dotted(location), reason)
