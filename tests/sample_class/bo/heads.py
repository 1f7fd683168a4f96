import torch
import torch.nn.functional as F
from torch import nn


class Heads(nn.Module):
    """All heads at once, with one matrix for queries, keys and values."""

    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x):
        q, k, v = (
            part.unflatten(-1, (self.h, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1)
        )
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


print("heads:", Heads(8, 2)(torch.zeros(1, 3, 8)).shape)
