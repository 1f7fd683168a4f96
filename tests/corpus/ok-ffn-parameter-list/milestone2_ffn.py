import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.theta = nn.ParameterList([
            nn.Parameter(0.1 * torch.randn(d_model, d_ff)),
            nn.Parameter(torch.zeros(1, d_ff)),
            nn.Parameter(0.1 * torch.randn(d_ff, d_model)),
            nn.Parameter(torch.zeros(1, d_model)),
        ])

    def forward(self, x):
        A, a, B, b = self.theta
        return (F.gelu(x @ A + a)) @ B + b
