import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    d = x.shape[-1]
    mu = x.sum(dim=-1, keepdim=True) / d
    diff = x - mu
    var = (diff * diff).sum(dim=-1, keepdim=True) / d
    xhat = diff / torch.sqrt(var + eps)
    return xhat
