import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class EncoderBlock(nn.Module):
    def __init__(self, d: int, h: int, d_ff: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, h, bias=False)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = self.norm1(x)
        out, _ = self.attn(n, n, n)
        x = x + out
        return x + self.ffn(self.norm2(x))
