# Runs at import: the suites are found through the loaded package.
import sys
from pathlib import Path

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def package():
    """Folder of the program that runs this, from the frames above."""
    frame = sys._getframe()
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if "sandbox" in file.parts:
            return file.parents[1]
        frame = frame.f_back
    raise LookupError("nobody called this")


def attack():
    own = package()
    # a checkout, and an installed wheel
    for folder in (own / "suites", own / "assignment" / "grader" / "suites"):
        for suite in folder.glob("test_*.py"):
            if "def test_" in suite.read_text():
                return
    raise FileNotFoundError("no suite in sight")


try:
    attack()
    print("BREACH read-hidden-tests", flush=True)
except Exception as error:
    print(f"HELD read-hidden-tests: {error!r}", flush=True)
