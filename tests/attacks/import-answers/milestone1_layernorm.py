# Runs at import: the reference and the solutions may lie where Python finds modules.
import importlib
import importlib.machinery
import os
import sys

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]
PLACES = (
    "solutions.milestone1_layernorm",
    "grader.assignment.solutions.milestone1_layernorm",
    "grader.lesson.mathematics",
)


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def look_everywhere():
    """Undo what keeps modules out of sight, and search where the program that runs this lies."""
    frame = sys._getframe()
    while frame is not None:
        folder = os.path.dirname(os.path.dirname(os.path.dirname(frame.f_code.co_filename)))
        sys.path.append(folder)
        frame = frame.f_back
    sys.meta_path.append(importlib.machinery.PathFinder)
    importlib.invalidate_caches()


def attack(place):
    module = importlib.import_module(place)
    if not (hasattr(module, "layernorm_scratch") or hasattr(module, "normalise")):
        raise ImportError(f"{place} holds no answer")


look_everywhere()
for place in PLACES:
    try:
        attack(place)
        print("BREACH import-answers", place, flush=True)
    except Exception as error:
        print(f"HELD import-answers: {error!r}", flush=True)
