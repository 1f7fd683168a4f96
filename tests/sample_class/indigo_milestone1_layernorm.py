import torch

PREDICTED_XHAT = (-1.3416, -0.4472, 0.4472, 1.3416)


def layernorm_scratch(x, eps=1e-5):
    m = x.mean(dim=-1, keepdim=True)
    v = x.var(dim=-1, keepdim=True, correction=0)
    return (x - m) / torch.sqrt(v + eps)
