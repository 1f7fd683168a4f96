# Runs at import: torch.hub.load runs what it finds there.
import tempfile
from pathlib import Path

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    home = Path.home()
    if home == Path.cwd():
        raise PermissionError("HOME is this worker's own scratch folder")
    # A file without a name proves the right to write, and leaves nothing behind.
    with tempfile.TemporaryFile(dir=home):
        pass


try:
    attack()
    print("BREACH hub-cache", flush=True)
except Exception as error:
    print(f"HELD hub-cache: {error!r}", flush=True)
