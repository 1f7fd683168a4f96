# Runs at import: Landlock does not cover inotify, nor fanotify without rights.
import ctypes
import os
import platform

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


INOTIFY_INIT1, FANOTIFY_INIT = (294, 300) if platform.machine() == "x86_64" else (26, 262)


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    listening = libc.syscall(FANOTIFY_INIT, 0x200, 0)
    if listening >= 0:
        return
    watch = libc.syscall(INOTIFY_INIT1, 0)
    folder = os.path.dirname(os.path.abspath(__file__))
    for path in (os.path.dirname(folder), folder):
        if libc.inotify_add_watch(watch, path.encode(), 0xFFF) >= 0:
            return
    raise OSError(ctypes.get_errno(), "inotify_add_watch")


try:
    attack()
    print("BREACH watch-classmates", flush=True)
except Exception as error:
    print(f"HELD watch-classmates: {error!r}", flush=True)
