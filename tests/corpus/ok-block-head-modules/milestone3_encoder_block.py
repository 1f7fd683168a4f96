import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class Head(nn.Module):
    def __init__(self, d, dk):
        super().__init__()
        self.q = nn.Linear(d, dk, bias=False)
        self.k = nn.Linear(d, dk, bias=False)
        self.v = nn.Linear(d, dk, bias=False)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
        return scores.softmax(dim=-1) @ v


class MultiHead(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.heads = nn.ModuleList(Head(d, d // h) for _ in range(h))
        self.proj = nn.Linear(d, d, bias=False)

    def forward(self, x):
        return self.proj(torch.cat([head(x) for head in self.heads], dim=-1))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = MultiHead(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.ffn(self.norm2(x))
