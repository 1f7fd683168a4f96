from torch import nn

PREDICTED_PARAMETERS = (4 * 16 + 16) + (16 * 4 + 4)


class FFN(nn.Sequential):
    def __init__(self, d_model, d_ff):
        super().__init__(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
