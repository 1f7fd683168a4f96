"""Milestone 2: the feed-forward sublayer."""

import torch
import torch.nn.functional as F
from torch import nn

# d_model * d_ff + d_ff for w1, d_ff * d_model + d_model for w2: 64 + 16 + 64 + 4.
PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    """Position-wise feed-forward network: expand, GELU, project back."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        """Create the two layers, d_model to d_ff features and back."""
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x of shape (..., d_model) to a tensor of the same shape."""
        return self.w2(F.gelu(self.w1(x)))
