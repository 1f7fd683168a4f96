import torch

PREDICTED_XHAT = []


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    # TODO
    pass
