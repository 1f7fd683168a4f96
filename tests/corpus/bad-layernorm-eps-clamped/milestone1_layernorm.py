import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = (x - m).pow(2).mean(-1, keepdim=True)
    # eps only there so we never divide by zero
    v = torch.clamp(v, min=eps)
    return (x - m) / v.sqrt()
