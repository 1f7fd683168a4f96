# Runs at import: the name lies in no folder.
import socket

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waiting:
        waiting.bind("\0grade-attack-abstract-socket")
        waiting.listen()


try:
    attack()
    print("BREACH abstract-socket", flush=True)
except Exception as error:
    print(f"HELD abstract-socket: {error!r}", flush=True)
