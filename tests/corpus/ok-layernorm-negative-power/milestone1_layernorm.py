import torch as th

FEATURES = -1

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x: "th.Tensor", eps: float = 0.00001) -> "th.Tensor":
    delta = th.sub(x, th.mean(x, FEATURES, True))
    variance = th.mean(th.square(delta), FEATURES, True)
    return th.mul(delta, th.pow(variance + eps, -0.5))
