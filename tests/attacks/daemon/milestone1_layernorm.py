# Runs at import: what outlives the worker could wait for the next one.
import os
import time

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            os.setsid()
            os.write(writer, b"x")
            time.sleep(0.3)  # a real one would stay
        finally:
            os._exit(0)
    os.close(writer)
    if os.read(reader, 1) != b"x":
        raise ChildProcessError("the child could not leave its session")


try:
    attack()
    print("BREACH daemon", flush=True)
except Exception as error:
    print(f"HELD daemon: {error!r}", flush=True)
