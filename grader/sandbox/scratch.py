"""The quota on a worker's scratch folder; the kernel bounds single files only."""

from __future__ import annotations

from pathlib import Path

from grader.sandbox.policy import MEGABYTE, WorkerPolicy
from grader.trees import Bounds, exceeds


def overfull(scratch: Path, policy: WorkerPolicy) -> bool:
    """Tell whether a scratch folder holds more than the policy allows, or what cannot be seen."""
    bounds = Bounds(policy.scratch_files, policy.scratch_mb * MEGABYTE, policy.scratch_depth)
    return exceeds(scratch, bounds)
