import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class Linear(nn.Module):
    """y = x W^T + b, from scratch"""

    def __init__(self, n_in, n_out):
        super().__init__()
        bound = n_in ** -0.5
        self.weight = nn.Parameter(torch.empty(n_out, n_in).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return x @ self.weight.t() + self.bias


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = Linear(d_model, d_ff)
        self.w2 = Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))
