# Runs at import: a signal to the group would no longer reach it.
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    os.setsid()


try:
    attack()
    print("BREACH setsid", flush=True)
except Exception as error:
    print(f"HELD setsid: {error!r}", flush=True)
