import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    mean = torch.mean(x, dim=-1, keepdim=True)
    variance = torch.mean(torch.square(x - mean), dim=-1, keepdim=True)
    xhat = (x - mean) / torch.sqrt(variance + eps)
    return xhat
