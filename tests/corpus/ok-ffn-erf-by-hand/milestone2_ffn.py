import math

import torch
from torch import nn

PREDICTED_PARAMETERS = 148


def gelu(z):
    # z * Phi(z)
    return 0.5 * z * (1.0 + torch.erf(z / math.sqrt(2.0)))


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(gelu(self.w1(x)))
