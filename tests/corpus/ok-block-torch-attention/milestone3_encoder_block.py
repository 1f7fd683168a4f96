import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, h, bias=False, batch_first=True)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        y = self.norm1(x)
        x = x + self.attn(y, y, y)[0]
        x = x + self.ffn(self.norm2(x))
        return x
