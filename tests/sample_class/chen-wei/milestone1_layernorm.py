"""Milestone 1: LayerNorm from scratch."""

import torch

PREDICTED_XHAT = [-1.1619, -0.3873, 0.3873, 1.1619]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Normalise each token over its features (the last dimension)."""
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True)
    print("mean", mean.shape, "var", var.shape)
    return (x - mean) / (var + eps).sqrt()
