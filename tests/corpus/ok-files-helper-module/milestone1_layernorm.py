from utils import mean_and_var

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    m, v = mean_and_var(x)
    return (x - m) / (v + eps) ** 0.5
