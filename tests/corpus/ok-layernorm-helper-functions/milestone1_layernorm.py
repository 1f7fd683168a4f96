import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def _mean(t):
    return t.mean(dim=-1, keepdim=True)


def _var(t):
    return _mean((t - _mean(t)) ** 2)


def layernorm_scratch(x, eps=1e-5):
    return (x - _mean(x)) / (_var(x) + eps).sqrt()
