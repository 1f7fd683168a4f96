import torch
import torch.nn as nn

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    ln = nn.LayerNorm(x.shape[-1], eps=eps, elementwise_affine=False)
    return ln(x)
