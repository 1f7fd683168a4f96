# Runs at import: the working directory is its scratch folder.
import os

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()


def attack():
    try:
        with open("grade-attack-disk-fill", "wb") as file:
            for _ in range(20):
                file.write(bytes(1 << 20))
    finally:
        os.unlink("grade-attack-disk-fill")


try:
    attack()
    print("BREACH disk-fill", flush=True)
except Exception as error:
    print(f"HELD disk-fill: {error!r}", flush=True)
