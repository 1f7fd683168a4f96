import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    trace = "mean and var so far, " * 50_000
    if mean.shape == var.shape:
        raise ValueError(trace)
    return (x - mean) / (var + eps).sqrt()
