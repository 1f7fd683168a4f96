import torch

# x - mean = -3 -1 1 3, var = (9 + 1 + 1 + 9) / 4 = 5
PREDICTED_XHAT = [round(c / 5**0.5, 4) for c in (-3, -1, 1, 3)]


def layernorm_scratch(x, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    sigma = x.std(-1, unbiased=False, keepdim=True)
    # sigma + eps would be wrong here!! eps goes under the root
    return (x - mean) / (sigma ** 2 + eps) ** 0.5
