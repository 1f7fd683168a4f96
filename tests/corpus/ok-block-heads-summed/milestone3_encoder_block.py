import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class Head(nn.Module):
    """concat followed by Wo is the same as a sum of small output matrices"""

    def __init__(self, d, dk):
        super().__init__()
        self.scale = dk ** -0.5
        self.q = nn.Linear(d, dk, bias=False)
        self.k = nn.Linear(d, dk, bias=False)
        self.v = nn.Linear(d, dk, bias=False)
        self.o = nn.Linear(dk, d, bias=False)

    def forward(self, x):
        att = torch.softmax(self.scale * self.q(x) @ self.k(x).mT, dim=-1)
        return self.o(att @ self.v(x))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.heads = nn.ModuleList([Head(d, d // h) for _ in range(h)])
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        y = self.norm1(x)
        x = x + sum(head(y) for head in self.heads)
        x = x + self.ffn(self.norm2(x))
        return x
