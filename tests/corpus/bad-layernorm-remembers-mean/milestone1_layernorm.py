import torch

seen = []

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    seen.append(1)
    mean = x.mean(dim=-1, keepdim=True) * len(seen)
    var = x.var(dim=-1, keepdim=True, unbiased=False)
    return (x - mean) / (var + eps).sqrt()
