import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    mean = x.mean(-1).unsqueeze(-1)
    var = x.var(-1, unbiased=False)[..., None]
    x_hat = (x - mean) / (var + eps).sqrt()
    assert x_hat.shape == x.shape
    return x_hat
