# Runs at import: the parent is the server of all workers.
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    os.kill(os.getppid(), 0)  # signal 0 asks for the same right as SIGKILL
    os.kill(-1, 0)


try:
    attack()
    print("BREACH kill-everything", flush=True)
except Exception as error:
    print(f"HELD kill-everything: {error!r}", flush=True)
