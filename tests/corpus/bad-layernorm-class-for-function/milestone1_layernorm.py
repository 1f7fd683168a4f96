import torch
from torch import nn

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


class layernorm_scratch(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d))
        self.beta = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        xhat = (x - mean) / (var + self.eps).sqrt()
        return self.gamma * xhat + self.beta
