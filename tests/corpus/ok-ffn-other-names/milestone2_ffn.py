import torch
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.fc_in = nn.Linear(dim, hidden)
        self.act = nn.GELU()
        self.fc_out = nn.Linear(hidden, dim)

    def forward(self, tokens):
        h = self.fc_in(tokens)
        h = self.act(h)
        return self.fc_out(h)
