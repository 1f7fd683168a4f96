"""Milestone 1: LayerNorm from scratch."""

import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Normalise each token over its features (the last dimension)."""
    x -= x.mean(dim=-1, keepdim=True)
    x /= (x.pow(2).mean(dim=-1, keepdim=True) + eps).sqrt()
    return x
