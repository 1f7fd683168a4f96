# Runs at import: where TCP is denied, UDP may do.
import socket

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=0.3).close()
    except OSError:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 0))
            server.sendto(b"secret", server.getsockname())


try:
    attack()
    print("BREACH network", flush=True)
except Exception as error:
    print(f"HELD network: {error!r}", flush=True)
