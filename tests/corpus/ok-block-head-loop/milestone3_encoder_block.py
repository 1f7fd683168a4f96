import math

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

    def forward(self, x):
        Q, K, V = self.Wq(x), self.Wk(x), self.Wv(x)
        heads = []
        for i in range(self.h):
            cols = slice(i * self.dk, (i + 1) * self.dk)
            q, k, v = Q[:, :, cols], K[:, :, cols], V[:, :, cols]
            a = torch.softmax(q.bmm(k.transpose(1, 2)) / math.sqrt(self.dk), dim=2)
            heads.append(a.bmm(v))
        return self.Wo(torch.cat(heads, dim=2))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = MultiHeadSelfAttn(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x
