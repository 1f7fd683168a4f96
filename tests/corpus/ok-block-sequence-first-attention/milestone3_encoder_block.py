from torch import nn

PREDICTED_PARAMETERS = 840


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.norm2 = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, h, bias=False)   # wants (T, B, d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        n = self.norm1(x).transpose(0, 1)
        a, weights = self.attn(n, n, n)
        self.last_weights = weights.detach()      # to plot them later
        x = x + a.transpose(0, 1)
        return x + self.ffn(self.norm2(x))
