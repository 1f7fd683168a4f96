import torch
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, 4 * d_model)
        self.gelu = nn.GELU()
        self.w2 = nn.Linear(4 * d_model, d_model)

    def forward(self, x):
        return self.w2(self.gelu(self.w1(x)))
