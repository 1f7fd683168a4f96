"""Uids of workers: held by one at a time, on the whole machine."""

from __future__ import annotations

import pytest

from grader.errors import WorkerStartError
from grader.sandbox import uids
from grader.sandbox.uids import claim_uid

# Beside the real range, so that graders that run at the same time are left alone.
FIRST, COUNT = 64_100, 3


@pytest.fixture(autouse=True)
def _own_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claim from a small range of the test's own."""
    monkeypatch.setattr(uids, "FIRST_UID", FIRST)
    monkeypatch.setattr(uids, "UID_COUNT", COUNT)


def test_claims_are_different() -> None:
    """Two that are held at the same time are two uids of the range."""
    first, second = claim_uid(), claim_uid()
    assert (first.uid, second.uid) == (FIRST, FIRST + 1)
    first.release()
    second.release()


def test_a_released_uid_can_be_claimed_again() -> None:
    """The lowest free one is taken."""
    first, second = claim_uid(), claim_uid()
    first.release()
    again = claim_uid()
    assert again.uid == first.uid
    again.release()
    second.release()


def test_when_all_are_taken_no_worker_starts() -> None:
    """It is an error of ours, with a message, and goes away with the next release."""
    held = [claim_uid() for _ in range(COUNT)]
    with pytest.raises(WorkerStartError, match="3 uids for workers are taken"):
        claim_uid()
    held.pop().release()
    held.append(claim_uid())
    for claim in held:
        claim.release()
