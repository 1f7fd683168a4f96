# Runs at import, on a file of its own: Landlock covers either way only from ABI 3 on.
import ctypes
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def empty_by_path(path):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.truncate(path.encode(), ctypes.c_long(0))


def empty_by_opening(path):
    os.close(os.open(path, os.O_RDONLY | os.O_TRUNC))


def attack():
    path = os.path.join(os.environ["HOME"], "full")
    with open(path, "w") as stream:
        stream.write("text")
    for way in (empty_by_path, empty_by_opening):
        try:
            way(path)
        except OSError:
            continue
        if os.path.getsize(path) == 0:
            return
    raise PermissionError("the file is as it was")


try:
    attack()
    print("BREACH truncate-by-path", flush=True)
except Exception as error:
    print(f"HELD truncate-by-path: {error!r}", flush=True)
