# Runs at import: a query needs no connection.
import socket
import struct

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    secret = b"seed7"
    query = struct.pack(">6H", 7, 0x100, 1, 0, 0, 0)
    query += bytes([len(secret)]) + secret + b"\x07invalid\0" + struct.pack(">2H", 1, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as resolver:
        resolver.settimeout(0.3)
        resolver.bind(("127.0.0.1", 0))
        resolver.sendto(query, resolver.getsockname())
        if secret not in resolver.recv(512):
            raise ConnectionError("the query was lost")


try:
    attack()
    print("BREACH dns", flush=True)
except Exception as error:
    print(f"HELD dns: {error!r}", flush=True)
