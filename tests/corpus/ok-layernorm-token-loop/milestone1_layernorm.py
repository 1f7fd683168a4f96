import torch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    d = x.shape[-1]
    tokens = x.reshape(-1, d)          # every row is one token
    done = []
    for t in tokens:
        m = t.sum() / d
        s = 0
        for i in range(d):
            s = s + (t[i] - m) ** 2
        done.append((t - m) / torch.sqrt(s / d + eps))
    return torch.stack(done).reshape(x.shape)
