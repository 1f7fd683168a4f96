import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.proj = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        per_head = self.qkv(x).view(B, T, self.h, -1).transpose(1, 2)   # B h T 3dk
        q, k, v = per_head.chunk(3, dim=-1)
        a = (q @ k.transpose(-1, -2) / q.size(-1) ** 0.5).softmax(-1)
        return self.proj((a @ v).transpose(1, 2).reshape(B, T, D))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = Attn(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x
