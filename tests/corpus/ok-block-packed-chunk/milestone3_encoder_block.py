import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 840


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.reshape(B, T, self.h, D // self.h).permute(0, 2, 1, 3)
        k = k.reshape(B, T, self.h, D // self.h).permute(0, 2, 3, 1)
        v = v.reshape(B, T, self.h, D // self.h).permute(0, 2, 1, 3)
        w = F.softmax(q.matmul(k) / (D // self.h) ** 0.5, dim=-1)
        return self.out(w.matmul(v).permute(0, 2, 1, 3).reshape(B, T, D))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = Attention(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x
