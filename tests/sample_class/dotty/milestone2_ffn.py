"""Milestone 2: the feed-forward sublayer."""

import torch
import torch.nn.functional as F
from torch import nn

# 4*16 + 16 + 16*4 + 4
PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    """Position-wise feed-forward network."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.gelu(self.w1(x))
        return self.w2(x)
