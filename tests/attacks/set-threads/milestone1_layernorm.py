# Runs at import: processes that were forked from this one would inherit it; none is.
import torch

torch.set_num_threads(16)
torch.set_num_interop_threads(16)

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()
