import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.b1 = nn.Parameter(torch.zeros(d_ff))
        self.w2 = nn.Linear(d_ff, d_model)
        self.b2 = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        h = F.gelu(self.w1(x) + self.b1)
        return self.w2(h) + self.b2
