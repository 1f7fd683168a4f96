import torch

# Predict before you run: xhat for x = [1, 3, 5, 7] and eps = 1e-5, as a list
# of four numbers rounded to four decimals.  Replace None by your list.
PREDICTED_XHAT = None


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    mean = x.mean(dim=-1, keepdim=True)
    var = (x - mean).square().mean(dim=-1, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps)
