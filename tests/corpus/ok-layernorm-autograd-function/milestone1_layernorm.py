import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


class _LN(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, eps):
        c = x - x.mean(-1, keepdim=True)
        rstd = (c.square().mean(-1, keepdim=True) + eps).rsqrt()
        xhat = c * rstd
        ctx.save_for_backward(xhat, rstd)
        return xhat

    @staticmethod
    def backward(ctx, g):
        # d/dx of (x - mu) * rstd, on paper first
        xhat, rstd = ctx.saved_tensors
        g_mean = g.mean(-1, keepdim=True)
        gx_mean = (g * xhat).mean(-1, keepdim=True)
        return rstd * (g - g_mean - xhat * gx_mean), None


def layernorm_scratch(x, eps=1e-5):
    return _LN.apply(x, eps)
