import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    mean = x.mean(dim=-1, keepdim=True)
    mean_of_squares = (x ** 2).mean(dim=-1, keepdim=True)
    var = mean_of_squares - mean ** 2
    return (x - mean) / (var + eps).sqrt()
