"""The distributions that student code may import, as far as a rubric needs to know of them."""

from __future__ import annotations

import importlib.metadata

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
