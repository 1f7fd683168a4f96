from __future__ import annotations

import torch
from torch import Tensor

__all__ = ["PREDICTED_XHAT", "layernorm_scratch"]

PREDICTED_XHAT: list[float] = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x: Tensor, eps: float = 1e-5) -> Tensor:
    """LayerNorm without gamma and beta.

    >>> layernorm_scratch(torch.tensor([2.0, 2.0]))
    tensor([0., 0.])
    """
    if not isinstance(x, torch.Tensor):
        raise TypeError("x has to be a tensor")
    if x.ndim == 0:
        raise ValueError("x has no feature dimension")
    if not x.is_floating_point():
        raise TypeError("x has to be float")
    if eps <= 0:
        raise ValueError("eps has to be positive")
    mean: Tensor = x.mean(dim=-1, keepdim=True)
    variance: Tensor = (x - mean).pow(2).mean(dim=-1, keepdim=True)
    return (x - mean).div(variance.add(eps).sqrt())


if __name__ == "__main__":
    import doctest

    doctest.testmod()
