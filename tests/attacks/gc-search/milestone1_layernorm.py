# Runs at import: whatever was loaded before the fork is in this process too.
import gc
import sys
import types

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


FORBIDDEN = ("grader.lesson", "grader.suites", "grader.scoring", "test_milestone")


def attack():
    gc.unfreeze()  # objects from before the fork are listed too
    for thing in gc.get_objects():
        if isinstance(thing, (types.FunctionType, type)):
            home = str(thing.__module__)
            if home.startswith(FORBIDDEN):
                return
    if any(name.startswith(FORBIDDEN) for name in sys.modules):
        return
    raise LookupError("no test and no reference in memory")


try:
    attack()
    print("BREACH gc-search", flush=True)
except Exception as error:
    print(f"HELD gc-search: {error!r}", flush=True)
