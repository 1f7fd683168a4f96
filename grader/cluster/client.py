"""The only place that imports dask.distributed, and that only when a cluster is asked for."""

from __future__ import annotations

import asyncio
import logging
import pkgutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from grader.errors import ClusterError

REQUIREMENT = "distributed>=2025.4"
CONNECT_SECONDS = 10.0


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
    for name in ("distributed", "distributed.client", "tornado"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", message="Sending large graph")
    try:
        asyncio.run(_answer(distributed, address))
        return distributed.Client(  # type: ignore[no-untyped-call]
            address, timeout=CONNECT_SECONDS, set_as_default=False
        )
    except (OSError, ValueError, TypeError, asyncio.TimeoutError) as error:
        raise ClusterError(
            f"No Dask scheduler answers at {address!r}: "
            f"{str(error) or f'nothing came within {CONNECT_SECONDS:g} seconds'}",
            "Give the address that it prints when it starts, such as tcp://HOST:8786; for tls:// "
            "Dask's own configuration must name the certificates.",
        ) from error


async def _answer(distributed: Any, address: str) -> None:
    """Have a scheduler say who it is.

    A client waits for ever for a server of another kind, and complains when it is collected.
    """
    security = distributed.Security().get_connection_args("client")
    async with distributed.rpc(address, connection_args=security) as scheduler:
        await asyncio.wait_for(scheduler.identity(), CONNECT_SECONDS)


def workers_of(client: Any) -> dict[str, Any] | None:
    """What the scheduler knows of its workers, by address; `None` if it does not answer."""
    if client.status != "running":  # asking would wait for the connection to come back
        return None
    try:
        workers: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    except (OSError, RuntimeError):
        return None
    return workers if client.status == "running" else None


def without(client: Any, addresses: Sequence[str], module: str) -> dict[str, str]:
    """Why some workers cannot import a module, by address.

    Asked in words of the standard library before a task is sent: a worker that cannot import a
    task's function ends.
    """
    if not addresses:
        return {}
    name = f"{module}:__name__"
    try:
        answers = client.run(pkgutil.resolve_name, name, workers=addresses, on_error="return")
    except (OSError, RuntimeError):  # the next look will tell what is left
        return {}
    return {
        address: f"it cannot import the grader ({type(answer).__name__}: {answer})"
        for address, answer in answers.items()
        if isinstance(answer, BaseException)
    }


@dataclass(frozen=True)
class Outcome:
    """What came of a task.

    Attributes:
        value: its result.
        failed: why there is none; empty otherwise.
    """

    value: Any = None
    failed: str = ""


def tell_outcome(client: Any, future: Any, tell: Callable[[Outcome], None]) -> None:
    """Fetch a task's result as soon as it is there, then tell the outcome from another thread.

    It is fetched beside the command's own work: the worker may be lost in between, and then the
    result would be waited for in vain.
    """

    async def fetch() -> None:
        try:
            tell(Outcome(await client.gather(future, asynchronous=True)))
        except (Exception, asyncio.CancelledError) as error:  # what it was there arrives here
            words = str(error).strip().splitlines() or ["no words"]
            tell(Outcome(failed=f"{type(error).__name__}: {words[0]}"))

    client.loop.add_callback(fetch)
