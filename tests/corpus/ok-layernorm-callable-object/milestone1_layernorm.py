import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


class _LayerNormScratch:
    def __call__(self, x, eps=1e-5):
        centred = x - x.mean(-1, keepdim=True)
        return centred / (centred.pow(2).mean(-1, keepdim=True) + eps).sqrt()


layernorm_scratch = _LayerNormScratch()
