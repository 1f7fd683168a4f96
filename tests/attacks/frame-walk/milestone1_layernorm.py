# Runs at import: an exception or a caller could hold the reference.
import sys

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


FORBIDDEN = ("grader.lesson", "grader.suites", "grader.scoring", "test_milestone")


def attack():
    frame = sys._getframe()
    while frame is not None:
        for name, value in {**frame.f_globals, **frame.f_locals}.items():
            home = str(getattr(value, "__module__", ""))
            if name == "expected" or home.startswith(FORBIDDEN):
                return
        frame = frame.f_back
    raise LookupError("no test and no reference in any frame")


try:
    attack()
    print("BREACH frame-walk", flush=True)
except Exception as error:
    print(f"HELD frame-walk: {error!r}", flush=True)
