"""Milestone 1: LayerNorm from scratch."""

import torch

PREDICTED_XHAT = [-1.34164, -0.44721, 0.44721, 1.34164]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Normalise each token over its features (the last dimension)."""
    d = x.shape[-1]
    mean = x.sum(dim=-1, keepdim=True) / d
    var = ((x - mean) ** 2).sum(dim=-1, keepdim=True) / d
    return (x - mean) / (var + eps) ** 0.5
