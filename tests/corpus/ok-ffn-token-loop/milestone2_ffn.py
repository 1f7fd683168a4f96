import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def one_token(self, t):
        return self.w2(F.gelu(self.w1(t)))

    def forward(self, x):
        rows = [self.one_token(t) for t in x.reshape(-1, x.shape[-1])]
        return torch.stack(rows).reshape(x.shape)
