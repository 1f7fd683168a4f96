"""How torch computes wherever student code or the reference runs: simply, for small tensors."""

from __future__ import annotations

import torch


def compute_simply() -> None:
    """Have torch use one thread, and no oneDNN.

    oneDNN generates machine code for each new shape, 0.1 ms every time: that pays for large
    tensors, and here they hold a few hundred values.
    """
    torch.set_num_threads(1)
    torch.backends.mkldnn.set_flags(False)  # type: ignore[no-untyped-call]
