import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    xd = x.to(torch.float64)
    mean = xd.mean(dim=-1, keepdim=True)
    var = (xd - mean).pow(2).mean(dim=-1, keepdim=True)
    return ((xd - mean) / (var + eps).sqrt()).to(x.dtype)
