import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    low = x.min(dim=-1, keepdim=True).values
    high = x.max(dim=-1, keepdim=True).values
    return (x - low) / (high - low + eps)
