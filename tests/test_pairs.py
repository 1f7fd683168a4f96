"""Two mistakes at once: the set that is named explains what the code computes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from tests.pairs_run import SUBJECTS, tally

# Every so many pairs in the normal run, and the share that must be named exactly or by an
# equivalent set; some pairs take longer to find than a diagnosis may.
STEPS = {"layernorm": 23, "ffn": 9, "encoder-block": 331}
LEAST_NAMED = 0.8


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """One thread, as in the examiner."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("milestone", SUBJECTS)
def test_some_pairs_are_named(milestone: str) -> None:
    """No pair is given a wrong name, and most get theirs."""
    expect_named(milestone, STEPS[milestone])


@pytest.mark.slow
@pytest.mark.parametrize("milestone", SUBJECTS)
def test_all_pairs_are_named(milestone: str) -> None:
    """The same for all pairs; run with -s to see the shares."""
    expect_named(milestone, 1)


def expect_named(milestone: str, step: int) -> None:
    """Name pairs, print the shares, and check them."""
    counts = tally(milestone, step)
    total = sum(counts.values())
    print(milestone, {word: f"{count / total:.1%}" for word, count in counts.items()})
    assert counts["wrongly"] == 0
    assert counts["exactly"] + counts["by an equivalent set"] >= LEAST_NAMED * total
