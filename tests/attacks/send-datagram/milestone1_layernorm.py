# Runs at import: one end of a pair of sockets is enough, and Landlock does not ask.
import socket

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    here, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for name in ("/dev/log", "/run/systemd/notify", "/run/no-such-socket"):
        try:
            here.sendto(b"<13>a submission: hello", name)
        except (FileNotFoundError, ConnectionRefusedError):
            continue  # it was looked for


try:
    attack()
    print("BREACH send-datagram", flush=True)
except Exception as error:
    print(f"HELD send-datagram: {error!r}", flush=True)
