import torch

PREDICTED_XHAT = [-1.1619, -0.3873, 0.3873, 1.1619]


def layernorm_scratch(x, eps=1e-5):
    # not the same as nn.LayerNorm, why?? -> n-1
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt()
