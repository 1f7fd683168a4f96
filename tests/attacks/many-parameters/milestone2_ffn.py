# Every pair of a wide and a narrow matrix may be the two layers, with every vector for a bias.
import torch
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.wide = nn.ParameterList(torch.randn(d_ff, d_model) for _ in range(150))
        self.narrow = nn.ParameterList(torch.randn(d_model, d_ff) for _ in range(150))
        self.b1 = nn.Parameter(torch.randn(d_ff))
        self.b2 = nn.Parameter(torch.randn(d_model))

    def forward(self, x):
        return x
