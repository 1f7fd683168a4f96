# The installed modules come first: the files beside this one are never loaded.
import random
import typing

import numpy
import torch

assert hasattr(random, "Random") and hasattr(typing, "Any")
assert hasattr(numpy, "ndarray") and hasattr(torch, "Tensor")

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]


def layernorm_scratch(x, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    return centred / (variance + eps).sqrt()
