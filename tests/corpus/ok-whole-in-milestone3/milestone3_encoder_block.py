"""All three milestones in one file, because the block needs the other two."""

import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]
PREDICTED_PARAMETERS = 148  # FFN(4, 16)


def layernorm_scratch(x, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mu) / (var + eps).sqrt()


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


PREDICTED_PARAMETERS = 840  # EncoderBlock(8, 2, 32)


class MHA(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.dk = d // h
        self.Wq = nn.Linear(d, d, bias=False)
        self.Wk = nn.Linear(d, d, bias=False)
        self.Wv = nn.Linear(d, d, bias=False)
        self.Wo = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = [W(x).view(B, T, self.h, self.dk).transpose(1, 2) for W in (self.Wq, self.Wk, self.Wv)]
        a = (q @ k.transpose(-2, -1) / self.dk**0.5).softmax(-1)
        return self.Wo((a @ v).transpose(1, 2).reshape(B, T, D))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = MHA(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = FFN(d, d_ff)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x
