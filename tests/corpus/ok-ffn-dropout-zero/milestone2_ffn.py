import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff, p=0.0):
        super().__init__()
        self.p = p
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        h = F.gelu(self.w1(x))
        h = F.dropout(h, self.p, training=self.training)
        return self.w2(h)
