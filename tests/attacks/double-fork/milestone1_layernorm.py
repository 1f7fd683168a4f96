# Runs at import: an orphan belongs to no parent that could end it.
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        if os.fork() == 0:
            os.read(reader, 1)  # until its parent has ended
            os.write(writer, b"orphan")
        os._exit(0)
    os.waitpid(child, 0)
    os.write(writer, b".")


try:
    attack()
    print("BREACH double-fork", flush=True)
except Exception as error:
    print(f"HELD double-fork: {error!r}", flush=True)
