# Runs at import: the working directory is its scratch folder.
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


here = os.open(".", os.O_RDONLY)
for _ in range(1_500):
    os.mkdir("d")
    os.chdir("d")
os.fchdir(here)
