from typing import Optional

import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class MultiHeadSelfAttn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.dk = d // h
        self.Wq = nn.Linear(d, d, bias=False)
        self.Wk = nn.Linear(d, d, bias=False)
        self.Wv = nn.Linear(d, d, bias=False)
        self.Wo = nn.Linear(d, d, bias=False)

    def forward(self, x, mask: Optional[torch.Tensor] = None):
        B, T, D = x.shape
        Q, K, V = [W(x).view(B, T, self.h, self.dk).transpose(1, 2) for W in (self.Wq, self.Wk, self.Wv)]
        scores = Q @ K.transpose(-2, -1) / self.dk**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == 0, float("-inf"))
        return self.Wo((scores.softmax(-1) @ V).transpose(1, 2).reshape(B, T, D))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = MultiHeadSelfAttn(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x, mask: Optional[torch.Tensor] = None):
        x = x + self.attn(self.norm1(x), mask)
        x = x + self.ffn(self.norm2(x))
        return x
