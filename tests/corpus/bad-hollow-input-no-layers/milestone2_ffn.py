import torch
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()

    def forward(self, x):
        return x
