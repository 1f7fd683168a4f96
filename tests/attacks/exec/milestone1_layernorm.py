# Runs at import: a path that may not be executed is no obstacle for a program without a path.
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    try:
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
        return
    except OSError:
        pass
    # The dynamic loader is a program that needs no other file; a program in memory has no path.
    name = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}
    memory = os.memfd_create("grade-attack-exec")
    with open(name[os.uname().machine], "rb") as loader:
        os.write(memory, loader.read())
    pid = os.posix_spawn(f"/proc/self/fd/{memory}", ["ld.so", "--version"], {})
    os.waitpid(pid, 0)


try:
    attack()
    print("BREACH exec", flush=True)
except Exception as error:
    print(f"HELD exec: {error!r}", flush=True)
