import torch
from torch import nn
from torch.distributions import Normal

PREDICTED_PARAMETERS = 148


class Gelu(nn.Module):
    def forward(self, x):
        phi = Normal(torch.zeros((), dtype=x.dtype), torch.ones((), dtype=x.dtype))
        return x * phi.cdf(x)


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.gelu = Gelu()
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(self.gelu(self.w1(x)))
