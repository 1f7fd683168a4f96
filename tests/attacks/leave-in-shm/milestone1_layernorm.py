# Runs at import: the folder is everybody's.
from pathlib import Path

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    note = Path("/dev/shm/grade-attack-leave-in-shm")
    note.write_text("x is drawn with seed 7")
    if note.read_text():
        note.unlink()  # a real one would leave it


try:
    attack()
    print("BREACH leave-in-shm", flush=True)
except Exception as error:
    print(f"HELD leave-in-shm: {error!r}", flush=True)
