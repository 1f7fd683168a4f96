"""Running the collected tests of a session, suite by suite."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import pytest


def by_suite(session: pytest.Session) -> Iterator[tuple[str, list[pytest.Item]]]:
    """The tests of each suite, by its file name."""
    for suite, tests in itertools.groupby(session.items, key=lambda item: item.path.name):
        yield suite, list(tests)


def run_items(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Run tests, one after the other."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        config.hook.pytest_runtest_protocol(item=item, nextitem=following)
