# Runs at import: the parent holds what the next workers are forked from.
import os
import sys

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    # The parent was forked from the same image: its torch module lies at the same address.
    with open(f"/proc/{os.getppid()}/mem", "rb", buffering=0) as memory:
        memory.seek(id(sys.modules["torch"]))
        assert len(memory.read(8)) == 8


try:
    attack()
    print("BREACH proc-mem", flush=True)
except Exception as error:
    print(f"HELD proc-mem: {error!r}", flush=True)
