# Runs at import: the limit on processes bounds a bomb, but does not stop the first fork.
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    children = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


try:
    attack()
    print("BREACH fork-bomb", flush=True)
except Exception as error:
    print(f"HELD fork-bomb: {error!r}", flush=True)
