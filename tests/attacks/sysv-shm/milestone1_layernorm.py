# Runs at import: no folder holds it, so no sweep of files finds it.
import ctypes

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    segment = libc.shmget(0, 4096, 0o1666)  # IPC_PRIVATE; IPC_CREAT with mode 666
    if segment < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    libc.shmctl(segment, 0, None)  # IPC_RMID: a real one would leave it


try:
    attack()
    print("BREACH sysv-shm", flush=True)
except Exception as error:
    print(f"HELD sysv-shm: {error!r}", flush=True)
