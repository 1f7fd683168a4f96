import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    """Projection view: subtracting the mean = multiplying with C = I - ones/d."""
    d = x.shape[-1]
    # take away the first feature before, it changes nothing but keeps the numbers small
    x = x - x[..., :1]
    C = torch.eye(d, dtype=x.dtype) - torch.full((d, d), 1 / d, dtype=x.dtype)
    c = x @ C
    var = torch.einsum("...i,...i->...", c, c).unsqueeze(-1) / d
    return c / (var + eps).sqrt()
