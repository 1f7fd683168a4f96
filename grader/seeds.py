"""The secret number that a run's inputs and weights are drawn from."""

from __future__ import annotations

import secrets

# Too many to try: what a student saw in one run tells nothing about the next one.
SEED_BITS = 128


def new_seed() -> int:
    """A seed that nobody can guess."""
    return secrets.randbits(SEED_BITS)
