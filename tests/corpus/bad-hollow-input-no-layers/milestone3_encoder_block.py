import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()

    def forward(self, x):
        return x
