# Runs at import: a second socket could forge another worker's exit status.
import os
import stat

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def is_socket(descriptor):
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:
        return False


def attack():
    found = [n for n in range(3, 1024) if is_socket(n)]
    if len(found) < 2:  # its own channel is all there should be
        raise LookupError("no socket but the channel")


try:
    attack()
    print("BREACH inherited-fds", flush=True)
except Exception as error:
    print(f"HELD inherited-fds: {error!r}", flush=True)
