# A parameter with a name of HTML that gets no gradient: the message names it.
import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = "<script>alert(1)</script>"
TAG = "<script>alert(1)</script>"


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)
        self.register_parameter(TAG, nn.Parameter(torch.zeros(3)))

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))
