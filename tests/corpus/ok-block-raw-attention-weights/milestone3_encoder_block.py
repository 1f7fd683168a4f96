import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class SelfAttention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.dk = h, d // h
        self.Wq = nn.Parameter(torch.randn(d, d) / d ** 0.5)
        self.Wk = nn.Parameter(torch.randn(d, d) / d ** 0.5)
        self.Wv = nn.Parameter(torch.randn(d, d) / d ** 0.5)
        self.Wo = nn.Parameter(torch.randn(d, d) / d ** 0.5)

    def split(self, z):
        B, T, _ = z.shape
        return z.view(B, T, self.h, self.dk).transpose(1, 2)

    def forward(self, x):
        Q, K, V = self.split(x @ self.Wq), self.split(x @ self.Wk), self.split(x @ self.Wv)
        A = torch.softmax(Q @ K.transpose(2, 3) / self.dk ** 0.5, dim=3)
        out = (A @ V).transpose(1, 2).flatten(start_dim=2)
        return out @ self.Wo


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = SelfAttention(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x
