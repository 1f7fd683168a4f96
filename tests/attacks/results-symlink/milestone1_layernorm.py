# Runs at import: the gradebook becomes a link.
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


def results_folder():
    for pid in ancestors():
        words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        if "--out" in words:
            return Path(f"/proc/{pid}/cwd") / words[words.index("--out") + 1]
    raise FileNotFoundError("no command with --out")


def attack():
    folder = results_folder()
    link = folder / "grade-attack-results-symlink"
    link.symlink_to("/tmp/grade-attack-results-symlink")
    link.replace(folder / "gradebook.csv")  # the grader must replace the link, never follow it


try:
    attack()
    print("BREACH results-symlink", flush=True)
except Exception as error:
    print(f"HELD results-symlink: {error!r}", flush=True)
