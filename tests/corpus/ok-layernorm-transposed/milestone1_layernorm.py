import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    feats = x.movedim(-1, 0)
    centred = feats - feats.mean(0)
    out = centred / (centred.pow(2).mean(0) + eps).sqrt()
    return out.movedim(0, -1)
