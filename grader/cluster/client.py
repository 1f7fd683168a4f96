"""The only place that imports dask.distributed, and that only when a cluster is asked for."""

from __future__ import annotations

import logging
import warnings
from typing import Any, Literal

from grader.errors import ClusterError

REQUIREMENT = "distributed>=2025.4"
CONNECT_SECONDS = 10.0
# A result is small; one that does not arrive has gone with its worker.
FETCH_SECONDS = 60.0


def connect(address: str) -> Any:
    """A client of a scheduler.

    Raises:
        ClusterError: if distributed is not installed or no scheduler answers.
    """
    try:
        import distributed
    except ImportError as error:
        raise ClusterError(
            f"--scheduler needs dask.distributed, which cannot be imported here: {error}.",
            f"Install it: python -m pip install '{REQUIREMENT}'",
        ) from error
    # What goes wrong is told in our own words, once.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    logging.getLogger("tornado").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", message="Sending large graph")
    try:
        return distributed.Client(  # type: ignore[no-untyped-call]
            address, timeout=CONNECT_SECONDS, set_as_default=False
        )
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address} (tried for {CONNECT_SECONDS:g} seconds): "
            f"{error}",
            "Give the address that it prints when it starts, such as tcp://HOST:8786.",
        ) from error


def result_of(future: Any) -> tuple[Literal["done", "failed"], Any]:
    """What came of a task: its result, or why there is none, as one line."""
    try:
        return "done", future.result(timeout=FETCH_SECONDS)
    except Exception as error:  # whatever went wrong there arrives as what it was there
        words = str(error).strip().splitlines() or [""]
        return "failed", f"{type(error).__name__}: {words[0]}"
