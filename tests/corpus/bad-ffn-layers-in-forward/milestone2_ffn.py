import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.d_model = d_model
        self.d_ff = d_ff

    def forward(self, x):
        w1 = nn.Linear(self.d_model, self.d_ff)
        w2 = nn.Linear(self.d_ff, self.d_model)
        return w2(F.gelu(w1(x)))
