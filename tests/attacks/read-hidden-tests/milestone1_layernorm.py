# Runs at import: the suites are found through the loaded package.
import sys
from pathlib import Path

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    package = Path(sys.modules["grader"].__file__).parent
    # a checkout, and an installed wheel
    for folder in (package / "suites", package / "assignment" / "grader" / "suites"):
        for suite in folder.glob("test_*.py"):
            if "def test_" in suite.read_text():
                return
    raise FileNotFoundError("no suite in sight")


try:
    attack()
    print("BREACH read-hidden-tests", flush=True)
except Exception as error:
    print(f"HELD read-hidden-tests: {error!r}", flush=True)
