import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    if x.dim() > 1:
        return torch.stack([layernorm_scratch(part, eps) for part in x])
    centered = x - x.mean()
    return centered / ((centered @ centered) / len(x) + eps).sqrt()
