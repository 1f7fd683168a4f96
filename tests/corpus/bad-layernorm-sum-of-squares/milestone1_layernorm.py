import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    mean = torch.sum(x, dim=-1, keepdim=True) / x.shape[-1]
    diff = x - mean
    var = torch.sum(diff * diff, dim=-1, keepdim=True)
    return diff / torch.sqrt(var + eps)
