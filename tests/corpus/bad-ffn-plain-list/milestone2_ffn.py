import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.layers = [nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = F.gelu(self.layers[0](x))
        return self.layers[1](hidden)
