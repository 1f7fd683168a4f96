import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.dk = h, d // h
        self.Wq = nn.Linear(d, d, bias=False)
        self.Wk = nn.Linear(d, d, bias=False)
        self.Wv = nn.Linear(d, d, bias=False)
        self.Wo = nn.Linear(d, d, bias=False)

    def forward(self, x):
        b, t, d = x.shape
        q = self.Wq(x).view(b, t, self.h, self.dk)
        k = self.Wk(x).view(b, t, self.h, self.dk)
        v = self.Wv(x).view(b, t, self.h, self.dk)
        score = torch.einsum("bqhc,bkhc->bhqk", q, k) * self.dk ** -0.5
        prob = torch.softmax(score, dim=-1)
        mixed = torch.einsum("bhqk,bkhc->bqhc", prob, v)
        return self.Wo(mixed.reshape(b, t, d))


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
