import math

import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    std, mean = torch.std_mean(x, dim=-1, correction=0, keepdim=True)
    root_eps = torch.full_like(std, math.sqrt(eps))
    return (x - mean) / torch.hypot(std, root_eps)
