import itertools

import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    out = torch.zeros_like(x)
    for idx in itertools.product(*[range(n) for n in x.shape[:-1]]):
        v = x[idx]
        out[idx] = (v - v.mean()) / (v.var(unbiased=False) + eps).sqrt()
    return out
