import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    # step 1: mean of each token
    mean = torch.mean(x, dim=-1, keepdim=True)
    # step 2: spread of each token
    var = torch.std(x, dim=-1, keepdim=True, unbiased=False)
    # step 3: normalise
    xhat = (x - mean) / torch.sqrt(var + eps)
    return xhat
