# Runs at import: every folder on the path is tried.
import os
import sys
import tempfile

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    failure = FileNotFoundError("no folder to import from")
    for folder in filter(os.path.isdir, sys.path):
        try:
            # A file without a name proves the right to write, and leaves nothing behind.
            with tempfile.TemporaryFile(dir=folder):
                return
        except OSError as error:
            failure = error
    raise failure


try:
    attack()
    print("BREACH poison-site", flush=True)
except Exception as error:
    print(f"HELD poison-site: {error!r}", flush=True)
