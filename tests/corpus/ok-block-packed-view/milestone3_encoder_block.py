import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class Attn(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        assert d % h == 0, "h must divide d"
        self.h = h
        self.dk = d // h
        self.in_proj = nn.Linear(d, 3 * d, bias=False)
        self.out_proj = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, D = x.size()
        packed = self.in_proj(x).view(B, T, 3, self.h, self.dk)
        q, k, v = packed.permute(2, 0, 3, 1, 4)      # each (B, h, T, dk)
        a = torch.softmax(q @ k.mT / self.dk ** 0.5, -1)
        return self.out_proj((a @ v).transpose(1, 2).contiguous().view(B, T, D))


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
