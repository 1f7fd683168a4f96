"""Milestone 1: LayerNorm from scratch."""

import torch

# I got 2.2361 for the root
PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def center(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(dim=-1, keepdim=True)


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Normalise each token over its features (the last dimension)."""
    c = center(x)
    return c / ((c * c).mean(dim=-1, keepdim=True) + eps).sqrt()
