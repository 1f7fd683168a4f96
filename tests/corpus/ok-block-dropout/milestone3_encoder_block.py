import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class MultiHeadSelfAttn(nn.Module):
    def __init__(self, d, h, dropout):
        super().__init__()
        self.h = h
        self.dk = d // h
        self.Wq = nn.Linear(d, d, bias=False)
        self.Wk = nn.Linear(d, d, bias=False)
        self.Wv = nn.Linear(d, d, bias=False)
        self.Wo = nn.Linear(d, d, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        B, T, D = x.shape
        Q = self.Wq(x).view(B, T, self.h, self.dk).transpose(1, 2)
        K = self.Wk(x).view(B, T, self.h, self.dk).transpose(1, 2)
        V = self.Wv(x).view(B, T, self.h, self.dk).transpose(1, 2)
        weights = self.dropout(torch.softmax(Q @ K.transpose(-2, -1) / self.dk**0.5, dim=-1))
        return self.Wo((weights @ V).transpose(1, 2).reshape(B, T, D))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff, dropout=0.1):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = MultiHeadSelfAttn(d, h, dropout)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Dropout(dropout), nn.Linear(d_ff, d))
        self.drop1 = nn.Dropout(dropout)
        self.drop2 = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.drop1(self.attn(self.norm1(x)))
        x = x + self.drop2(self.ffn(self.norm2(x)))
        return x
