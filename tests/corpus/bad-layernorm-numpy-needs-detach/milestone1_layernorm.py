import numpy as np
import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    a = x.numpy()
    mean = a.mean(axis=-1, keepdims=True)
    var = a.var(axis=-1, keepdims=True)
    return torch.tensor((a - mean) / np.sqrt(var + eps), dtype=x.dtype)
