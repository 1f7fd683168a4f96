import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        # w1 = the one nearest to the output (I count from the top like in the picture)
        self.w1 = nn.Linear(d_ff, d_model)
        self.w2 = nn.Linear(d_model, d_ff)

    def forward(self, x):
        return self.w1(F.gelu(self.w2(x)))
