import torch
import torch.nn.functional as F

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    flat = x.reshape(-1, x.shape[-1])
    out = F.batch_norm(flat, None, None, training=True, eps=eps)
    return out.reshape(x.shape)
