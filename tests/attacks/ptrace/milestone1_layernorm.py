# Runs at import: attaching would stop the parent, so memory is only read.
import ctypes
import os
import sys

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(8)
    here = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 8)
    there = (ctypes.c_void_p * 2)(id(sys.modules["torch"]), 8)
    if libc.process_vm_readv(os.getppid(), here, 1, there, 1, 0) != 8:
        raise OSError(ctypes.get_errno(), "process_vm_readv")


try:
    attack()
    print("BREACH ptrace", flush=True)
except Exception as error:
    print(f"HELD ptrace: {error!r}", flush=True)
