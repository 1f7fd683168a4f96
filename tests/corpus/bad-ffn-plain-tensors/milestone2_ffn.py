import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W1 = torch.randn(d_ff, d_model) * 0.1
        self.b1 = torch.zeros(d_ff)
        self.W2 = torch.randn(d_model, d_ff) * 0.1
        self.b2 = torch.zeros(d_model)

    def forward(self, x):
        hidden = F.gelu(x @ self.W1.T + self.b1)
        return hidden @ self.W2.T + self.b2
