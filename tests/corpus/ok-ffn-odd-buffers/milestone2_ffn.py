import sys

import torch
from torch import nn
from torch.nn import functional as F

PREDICTED_PARAMETERS = 148
SCALE = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)
        self.register_buffer("freqs_cis", torch.polar(torch.ones(8), torch.arange(8.0)))
        self.register_buffer("table", torch.zeros(2_000_000), persistent=False)
        self.register_buffer("mask", torch.eye(4).to_sparse())

    def forward(self, x):
        return SCALE * self.w2(F.gelu(self.w1(x)))
