# Runs at import: /proc is climbed from parent to parent.
import os
from pathlib import Path

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def ancestors():
    pid = os.getpid()
    while pid > 1:
        status = Path(f"/proc/{pid}/status").read_text()
        pid = int(status.partition("PPid:")[2].split()[0])
        yield pid


def attack():
    failure = LookupError("no process above")
    for pid in ancestors():
        try:
            if b"=" in Path(f"/proc/{pid}/environ").read_bytes():
                return
        except OSError as error:
            failure = error
    raise failure


try:
    attack()
    print("BREACH read-environ", flush=True)
except Exception as error:
    print(f"HELD read-environ: {error!r}", flush=True)
