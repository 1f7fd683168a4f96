import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Parameter(torch.empty(d_model, d_ff).uniform_(-0.5, 0.5))
        self.b1 = nn.Parameter(torch.zeros(d_ff))
        self.w2 = nn.Parameter(torch.empty(d_ff, d_model).uniform_(-0.5, 0.5))
        self.b2 = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return F.gelu(x @ self.w1 + self.b1) @ self.w2 + self.b2
