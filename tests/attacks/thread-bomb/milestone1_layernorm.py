# Runs when called; the threads end with the call, whether or not all could be started.
import threading

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    done = threading.Event()
    try:
        for _ in range(300):
            threading.Thread(target=done.wait, args=(0.5,)).start()
    finally:
        done.set()
    return x
