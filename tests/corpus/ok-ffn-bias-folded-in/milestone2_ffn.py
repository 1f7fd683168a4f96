import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148  # (4+1)*16 + (16+1)*4


def with_one(x):
    return torch.cat([x, torch.ones_like(x[..., :1])], dim=-1)


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.A = nn.Parameter(torch.randn(d_ff, d_model + 1) * 0.2)
        self.B = nn.Parameter(torch.randn(d_model, d_ff + 1) * 0.2)

    def forward(self, x):
        h = F.gelu(with_one(x) @ self.A.T)
        return with_one(h) @ self.B.T
