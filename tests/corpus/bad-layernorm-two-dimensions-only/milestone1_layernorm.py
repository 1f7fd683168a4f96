import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    tokens, features = x.shape
    mean = x.mean(dim=1, keepdim=True)
    variance = ((x - mean) ** 2).sum(dim=1, keepdim=True) / features
    return (x - mean) / torch.sqrt(variance + eps)
