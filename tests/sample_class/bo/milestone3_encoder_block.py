from torch import nn

from heads import Heads
from milestone2_ffn import FFN

PREDICTED_PARAMETERS = 4 * 8 * 8 + 2 * (8 + 8) + (8 * 32 + 32) + (32 * 8 + 8)


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.mixing = nn.ModuleDict({"norm": nn.LayerNorm(d), "heads": Heads(d, h)})
        self.thinking = nn.ModuleDict({"norm": nn.LayerNorm(d), "ffn": FFN(d, d_ff)})

    def forward(self, x):
        x = x + self.mixing["heads"](self.mixing["norm"](x))
        return x + self.thinking["ffn"](self.thinking["norm"](x))
