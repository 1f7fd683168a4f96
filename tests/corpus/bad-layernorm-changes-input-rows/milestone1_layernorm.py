import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    rows = x.view(-1, x.shape[-1])
    for i in range(rows.shape[0]):
        mean = rows[i].mean()
        var = rows[i].var(unbiased=False)
        rows[i] = (rows[i] - mean) / (var + eps).sqrt()
    return x
