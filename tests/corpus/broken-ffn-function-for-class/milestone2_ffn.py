import torch
from torch import nn

PREDICTED_PARAMETERS = 148


def FFN(d_model, d_ff):
    return nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)
