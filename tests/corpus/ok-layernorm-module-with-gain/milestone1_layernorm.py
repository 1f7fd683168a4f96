import torch
import torch.nn as nn

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


# stretch task from slide 58
class MyLayerNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5, dtype=torch.float32):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model, dtype=dtype))
        self.beta = nn.Parameter(torch.zeros(d_model, dtype=dtype))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        return self.gamma * (x - mean) / (var + self.eps).sqrt() + self.beta


def layernorm_scratch(x, eps=1e-5):
    return MyLayerNorm(x.size(-1), eps, x.dtype)(x)
