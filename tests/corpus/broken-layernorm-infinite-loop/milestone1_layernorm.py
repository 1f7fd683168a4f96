import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    xhat = x
    while True:
        mean = xhat.mean(dim=-1, keepdim=True)
        var = xhat.var(dim=-1, keepdim=True, unbiased=False)
        xhat = (xhat - mean) / (var + eps).sqrt()
        if (var == 2).all():
            break
    return xhat
