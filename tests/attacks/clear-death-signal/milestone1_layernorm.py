# Runs at import: a worker dies with its parent only as long as it wants to.
import ctypes

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


PR_SET_PDEATHSIG, PR_SET_DUMPABLE = 1, 4


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    for option in (PR_SET_PDEATHSIG, PR_SET_DUMPABLE):
        if libc.prctl(option, 0, 0, 0, 0) == 0:
            return
    raise OSError(ctypes.get_errno(), "prctl")


try:
    attack()
    print("BREACH clear-death-signal", flush=True)
except Exception as error:
    print(f"HELD clear-death-signal: {error!r}", flush=True)
