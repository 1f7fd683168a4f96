import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5, dim=-1, verbose=False):
    mean = x.mean(dim=dim, keepdim=True)
    var = x.var(dim=dim, keepdim=True, unbiased=False)
    if verbose:
        print("mean", mean, "var", var)
    return (x - mean) / torch.sqrt(var + eps)
