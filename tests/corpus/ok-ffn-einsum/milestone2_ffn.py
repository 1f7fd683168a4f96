import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        h = torch.einsum("...d,fd->...f", x, self.w1.weight) + self.w1.bias
        h = F.gelu(h)
        return torch.einsum("...f,df->...d", h, self.w2.weight) + self.w2.bias
