import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    print("input:", x.shape)
    mean = x.mean(dim=-1, keepdim=True)
    print("mean:", mean.shape)
    var = x.var(dim=-1, keepdim=True, unbiased=False)
    print("var:", var.shape, "smallest", var.min().item())
    xhat = (x - mean) / (var + eps).sqrt()
    print("xhat:", xhat.shape)
    print("-" * 20)
    return xhat
