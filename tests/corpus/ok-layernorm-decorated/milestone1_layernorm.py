import functools

import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def same_shape(fn):
    @functools.wraps(fn)
    def inner(x, *args, **kwargs):
        y = fn(x, *args, **kwargs)
        if y.shape != x.shape:
            raise ValueError(f"shape changed from {tuple(x.shape)} to {tuple(y.shape)}")
        return y

    return inner


@same_shape
def layernorm_scratch(x, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mu) / (var + eps).sqrt()
