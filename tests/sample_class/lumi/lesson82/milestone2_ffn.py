"""Milestone 2: the feed-forward sublayer."""

import torch
from torch import nn

PREDICTED_PARAMETERS = 128


class FFN(nn.Module):
    """Position-wise feed-forward network."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff, bias=False)
        self.w2 = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(nn.functional.gelu(self.w1(x)))
