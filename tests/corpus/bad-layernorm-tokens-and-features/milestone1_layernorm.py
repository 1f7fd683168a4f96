import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    # everything but the batch dimension
    dims = tuple(range(1, x.dim())) if x.dim() > 1 else (0,)
    mean = x.mean(dim=dims, keepdim=True)
    var = x.var(dim=dims, keepdim=True, unbiased=False)
    return (x - mean) / (var + eps).sqrt()
