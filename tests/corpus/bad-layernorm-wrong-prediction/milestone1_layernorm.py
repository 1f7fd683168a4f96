import torch

# (1-4, 3-4, 5-4, 7-4) / sqrt(20 / 3)
PREDICTED_XHAT = [-1.1619, -0.3873, 0.3873, 1.1619]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Normalise each token over its features."""
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, keepdim=True, unbiased=False)
    return (x - mean) / (var + eps).sqrt()
