import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    # d = 4
    mean = x.sum(dim=-1, keepdim=True) / 4
    var = ((x - mean) ** 2).sum(dim=-1, keepdim=True) / 4
    return (x - mean) / (var + eps).sqrt()
