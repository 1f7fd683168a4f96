import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    out = []
    for row in x:
        mean = row.mean()
        var = ((row - mean) ** 2).mean()
        out.append((row - mean) / (var + eps).sqrt())
    return torch.stack(out)
