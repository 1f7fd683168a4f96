import torch
from torch import nn

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    d = x.size(-1)
    return nn.LayerNorm(d, eps)(x)
