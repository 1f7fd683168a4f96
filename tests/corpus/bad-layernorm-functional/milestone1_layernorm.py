import torch
import torch.nn.functional as F

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Same as nn.LayerNorm without gain and shift."""
    return F.layer_norm(x, x.shape[-1:], eps=eps)
