import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148

xs = torch.linspace(-4, 4, 200)
plt.plot(xs, F.gelu(xs), label="GELU")
plt.plot(xs, F.relu(xs), label="ReLU")
plt.legend()
plt.show()


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))
