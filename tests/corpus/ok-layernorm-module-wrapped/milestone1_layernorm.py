import torch
from torch import nn

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


class LayerNorm(nn.Module):
    """my own one, not the one of torch"""

    def __init__(self, eps):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        mu = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
        return (x - mu) / (var + self.eps).sqrt()


def layernorm_scratch(x, eps=1e-5):
    return LayerNorm(eps)(x)
