# Runs at import: an orphan is waited for by no process of the grader.
import os
import time

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            parent = os.getpid()
            if os.fork() == 0:
                while os.getppid() == parent:
                    time.sleep(0.01)
                os.write(writer, b"x")
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    if os.read(reader, 1) != b"x":
        raise ChildProcessError("there is no orphan")


try:
    attack()
    print("BREACH double-fork", flush=True)
except Exception as error:
    print(f"HELD double-fork: {error!r}", flush=True)
