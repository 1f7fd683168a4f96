"""Milestone 2: the feed-forward sublayer."""

import torch
import torch.nn.functional as F
from torch import nn

# w1: 4*16 + 16 = 80, w2: 16*4 + 4 = 68
PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    """Position-wise feed-forward network."""

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = F.gelu(self.w1(x))
        return self.w2(hidden)


if __name__ == "__main__":
    print(FFN(4, 16)(torch.randn(2, 5, 4)).shape)
