# Runs at import: the solution is looked for by name and by path.
import importlib
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
    try:
        importlib.import_module("solutions.milestone1_layernorm")
        return
    except ImportError:
        pass
    own = package()
    # a checkout, and an installed wheel
    for folder in (own.parent / "solutions", own / "assignment" / "solutions"):
        for solution in folder.glob("milestone*.py"):
            exec(solution.read_text(), {})
            return
    raise FileNotFoundError("no solution in sight")


try:
    attack()
    print("BREACH read-solution", flush=True)
except Exception as error:
    print(f"HELD read-solution: {error!r}", flush=True)
