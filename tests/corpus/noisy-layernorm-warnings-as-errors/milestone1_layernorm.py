import warnings

import torch

warnings.simplefilter("error")
PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]
print(torch.ones(2, 3) @ torch.ones(2, 3))


def layernorm_scratch(x, eps=1e-5):
    """Gives $\hat{x} = (x - \mu) / \sqrt{\sigma^2 + \epsilon}$."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt()
