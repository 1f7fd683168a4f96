import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    m = torch.mean(x, -1, keepdim=True)
    v = torch.var(x, -1, correction=0, keepdim=True)
    return (x - m) / torch.sqrt(v + eps)
