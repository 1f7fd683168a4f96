from torch import nn

from nnlib import MHA, LayerNorm

PREDICTED_PARAMETERS = 840


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = LayerNorm(d)
        self.attn = MHA(d, h)
        self.norm2 = LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x
