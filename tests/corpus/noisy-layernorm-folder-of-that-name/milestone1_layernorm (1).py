"""Milestone 1: LayerNorm from scratch."""

import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Normalise each token over its features.

    Args:
        x: tensor of shape (..., d); the last dimension holds one token's features.
        eps: added to the variance inside the root, so that it is never zero.

    Returns:
        Tensor of the same shape and dtype as x.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()
