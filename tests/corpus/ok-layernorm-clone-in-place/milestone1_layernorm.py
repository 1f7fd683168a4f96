import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    y = x.clone()
    y -= x.mean(dim=-1, keepdim=True)
    scale = (x.var(dim=-1, keepdim=True, unbiased=False) + eps).sqrt()
    y /= scale
    return y
