# Runs at import: its own folder tells where the others' are.
import os
from pathlib import Path

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    own = Path(__file__).resolve().parent
    # The others' folders have random names: to list them is to get in.
    for name in os.listdir(own.parent):
        for path in (own.parent / name).glob("*.py"):
            path.read_bytes()


try:
    attack()
    print("BREACH read-classmates", flush=True)
except Exception as error:
    print(f"HELD read-classmates: {error!r}", flush=True)
