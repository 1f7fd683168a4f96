# Runs at import: the kernel asks only for the same user.
import ctypes
import os
import platform

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


IOPRIO_SET = 251 if platform.machine() == "x86_64" else 30


def attempts(pid):
    libc = ctypes.CDLL(None, use_errno=True)
    yield lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid) + 1)
    yield lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
    yield lambda: os.sched_setaffinity(pid, {min(os.sched_getaffinity(pid))})

    def input_and_output():
        if libc.syscall(IOPRIO_SET, 1, pid, 3 << 13) != 0:
            raise OSError(ctypes.get_errno(), "ioprio_set")

    yield input_and_output


def attack():
    error = None
    for pid in (os.getppid(), os.getpid()):
        for attempt in attempts(pid):
            try:
                attempt()
            except OSError as refused:
                error = refused
            else:
                return
    raise error


try:
    attack()
    print("BREACH change-scheduling", flush=True)
except Exception as error:
    print(f"HELD change-scheduling: {error!r}", flush=True)
