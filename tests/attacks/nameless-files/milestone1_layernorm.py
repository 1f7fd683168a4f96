# Runs at import: such a file lies in memory, and does not count as this process's memory.
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    descriptor = os.memfd_create("grade-attack")
    os.write(descriptor, bytes(1 << 20))


try:
    attack()
    print("BREACH nameless-files", flush=True)
except Exception as error:
    print(f"HELD nameless-files: {error!r}", flush=True)
