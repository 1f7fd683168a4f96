import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 840


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.d, self.h = d, h

        def weight(*shape):
            return nn.Parameter(torch.randn(*shape) * 0.2)

        self.g1, self.b1 = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
        self.g2, self.b2 = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
        self.q, self.k, self.v, self.o = weight(d, d), weight(d, d), weight(d, d), weight(d, d)
        self.up, self.up_bias = weight(d_ff, d), nn.Parameter(torch.zeros(d_ff))
        self.down, self.down_bias = weight(d, d_ff), nn.Parameter(torch.zeros(d))

    def attention(self, x):
        B, T, d = x.shape
        q, k, v = (F.linear(x, w).view(B, T, self.h, -1).transpose(1, 2) for w in (self.q, self.k, self.v))
        y = torch.softmax(q @ k.mT / (d // self.h) ** 0.5, dim=-1) @ v
        return F.linear(y.transpose(1, 2).reshape(B, T, d), self.o)

    def forward(self, x):
        x = x + self.attention(F.layer_norm(x, (self.d,), self.g1, self.b1))
        h = F.gelu(F.linear(F.layer_norm(x, (self.d,), self.g2, self.b2), self.up, self.up_bias))
        return x + F.linear(h, self.down, self.down_bias)
