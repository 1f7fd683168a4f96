"""Milestone 2: the feed-forward sublayer."""

import torch
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    """Position-wise feed-forward network."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.act = nn.GELU()
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.w1(x)
        print(x.shape)
        x = self.act(x)
        x = self.w2(x)
        print(x.shape)
        return x
