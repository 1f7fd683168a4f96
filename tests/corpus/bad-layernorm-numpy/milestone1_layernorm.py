import numpy as np
import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    a = x.detach().numpy()
    mean = np.mean(a, axis=-1, keepdims=True)
    var = np.var(a, axis=-1, keepdims=True)
    out = (a - mean) / np.sqrt(var + eps)
    return torch.from_numpy(out).to(x.dtype)
