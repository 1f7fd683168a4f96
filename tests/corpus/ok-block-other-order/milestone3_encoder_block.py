import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.output = nn.Linear(d, d, bias=False)
        self.value = nn.Linear(d, d, bias=False)
        self.key = nn.Linear(d, d, bias=False)
        self.query = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = [m(x).view(B, T, self.h, D // self.h).transpose(1, 2) for m in (self.query, self.key, self.value)]
        p = torch.softmax(q @ k.transpose(-2, -1) / (D // self.h) ** 0.5, dim=-1)
        return self.output((p @ v).transpose(1, 2).reshape(B, T, D))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.shrink = nn.Linear(d_ff, d)
        self.grow = nn.Linear(d, d_ff)
        self.norm_for_ffn = nn.LayerNorm(d)
        self.attention = Attention(d, h)
        self.norm_for_attention = nn.LayerNorm(d)

    def forward(self, x):
        x = x + self.attention(self.norm_for_attention(x))
        x = x + self.shrink(nn.functional.gelu(self.grow(self.norm_for_ffn(x))))
        return x
