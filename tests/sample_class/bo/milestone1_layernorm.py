import torch

PREDICTED_XHAT = [round(v / 5**0.5, 4) for v in (-3, -1, 1, 3)]


def layernorm_scratch(x, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps)


print(layernorm_scratch(torch.tensor([[1.0, 3.0, 5.0, 7.0]])))
