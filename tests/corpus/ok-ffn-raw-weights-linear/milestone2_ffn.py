import math

import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W1 = nn.Parameter(torch.randn(d_ff, d_model) / math.sqrt(d_model))
        self.b1 = nn.Parameter(torch.zeros(d_ff))
        self.W2 = nn.Parameter(torch.randn(d_model, d_ff) / math.sqrt(d_ff))
        self.b2 = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return F.linear(F.gelu(F.linear(x, self.W1, self.b1)), self.W2, self.b2)
