# Runs at import.  Each of them has been part of a way out of a sandbox, or disturbs others.
import ctypes
import os
import platform

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


COLUMN = 0 if platform.machine() == "x86_64" else 1
NULL = ctypes.c_void_p()
HOME = os.environ["HOME"].encode()
BUFFER = ctypes.create_string_buffer(4096)
CALLS = {
    "splice": ((275, 76), lambda r, w: (r, NULL, w, NULL, 1, 2)),
    "vmsplice": ((278, 75), lambda r, w: (w, BUFFER, 0, 0)),
    "tee": ((276, 77), lambda r, w: (r, w, 0, 0)),
    "landlock_create_ruleset": ((444, 444), lambda r, w: (NULL, 0, 1)),
    "seccomp": ((317, 277), lambda r, w: (2, 0, ctypes.byref(ctypes.c_uint32(0x7FFF0000)))),
    "keyctl": ((250, 219), lambda r, w: (0, -3, 1)),
    "io_uring_setup": ((425, 425), lambda r, w: (1, BUFFER)),
    "userfaultfd": ((323, 282), lambda r, w: (1,)),
    "memfd_create": ((319, 279), lambda r, w: (b"x", 0)),
    "pidfd_open": ((434, 434), lambda r, w: (os.getppid(), 0)),
    "membarrier": ((324, 283), lambda r, w: (0, 0, 0)),
    "mlock": ((149, 228), lambda r, w: (BUFFER, 1)),
    "mincore": ((27, 232), lambda r, w: (NULL, 0, BUFFER)),
    "link": ((265, 37), lambda r, w: (-100, HOME + b"/a", -100, HOME + b"/b", 0)),
    "name_to_handle_at": ((303, 264), lambda r, w: (-100, b"/", b"\x80" + bytes(200), BUFFER, 0)),
    "personality": ((135, 92), lambda r, w: (0xFFFFFFFF,)),
    "timerfd_create": ((283, 85), lambda r, w: (1, 0)),
    "signalfd4": ((289, 74), lambda r, w: (-1, bytes(8), 8, 0)),
    "capset": ((126, 91), lambda r, w: (bytes(8), bytes(24))),
    "perf_event_open": ((298, 241), lambda r, w: (BUFFER, 0, -1, -1, 0)),
    "bpf": ((321, 280), lambda r, w: (0, BUFFER, 72)),
    "sendmsg": ((46, 211), lambda r, w: (1, bytes(56), 0)),
}


def attack():
    libc = ctypes.CDLL(None, use_errno=True)
    with open(os.path.join(os.environ["HOME"], "a"), "w") as stream:
        stream.write("text")
    reader, writer = os.pipe()
    os.write(writer, b"xx")
    made = []
    for name, (numbers, arguments) in CALLS.items():
        given = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments(reader, writer)]
        if libc.syscall(ctypes.c_long(numbers[COLUMN]), *given) >= 0:
            made.append(name)
    if not made:
        raise PermissionError("all are refused")
    print("made:", *made)


try:
    attack()
    print("BREACH odd-system-calls", flush=True)
except Exception as error:
    print(f"HELD odd-system-calls: {error!r}", flush=True)
