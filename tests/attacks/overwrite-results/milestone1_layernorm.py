# Runs at import: a thread writes where the scores will be written.
import os
from concurrent.futures import ThreadPoolExecutor
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


def results_folder():
    for pid in ancestors():
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        if "--out" in words:
            return Path(f"/proc/{pid}/cwd") / words[words.index("--out") + 1]
    raise FileNotFoundError("no command with --out")


def attack():
    forged = results_folder() / "grade-attack-overwrite-results"
    with ThreadPoolExecutor(1) as pool:
        pool.submit(forged.write_text, '{"score": 100.0}').result()
    forged.unlink()  # the right to write is proved; a real one would leave a score.json


try:
    attack()
    print("BREACH overwrite-results", flush=True)
except Exception as error:
    print(f"HELD overwrite-results: {error!r}", flush=True)
