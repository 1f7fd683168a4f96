import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        # W1 has shape (d_ff, d_model)
        self.w1 = nn.Linear(d_ff, d_model)
        # W2 has shape (d_model, d_ff)
        self.w2 = nn.Linear(d_model, d_ff)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))
