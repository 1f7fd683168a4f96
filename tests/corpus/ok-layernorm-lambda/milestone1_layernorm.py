import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]

layernorm_scratch = lambda x, eps=1e-5: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
