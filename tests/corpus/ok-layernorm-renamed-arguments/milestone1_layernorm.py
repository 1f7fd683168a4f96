import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(inp, epsilon=1e-5):
    mean = inp.mean(dim=-1, keepdim=True)
    var = inp.var(dim=-1, keepdim=True, unbiased=False)
    return (inp - mean) / (var + epsilon).sqrt()
