# Runs at import: the reference and the solutions may lie where Python finds modules.
import importlib

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


def attack(place):
    module = importlib.import_module(place)
    if not (hasattr(module, "layernorm_scratch") or hasattr(module, "normalise")):
        raise ImportError(f"{place} holds no answer")


for place in PLACES:
    try:
        attack(place)
        print("BREACH import-answers", place, flush=True)
    except Exception as error:
        print(f"HELD import-answers: {error!r}", flush=True)
