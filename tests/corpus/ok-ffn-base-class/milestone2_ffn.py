from abc import ABC, abstractmethod

import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class Sublayer(nn.Module, ABC):
    def __init__(self, d_in, d_hidden):
        super().__init__()
        self.up = nn.Linear(d_in, d_hidden)
        self.down = nn.Linear(d_hidden, d_in)

    @abstractmethod
    def forward(self, x):
        ...


class FFN(Sublayer):
    def forward(self, x):
        return self.down(F.gelu(self.up(x)))
