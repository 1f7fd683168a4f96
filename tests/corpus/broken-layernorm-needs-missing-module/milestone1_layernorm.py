import torch
from my_helpers import token_mean, token_var

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    mean = token_mean(x)
    var = token_var(x)
    return (x - mean) / (var + eps).sqrt()
