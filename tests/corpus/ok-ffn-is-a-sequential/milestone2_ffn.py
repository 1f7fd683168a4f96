from collections import OrderedDict

from torch import nn

PREDICTED_PARAMETERS = 4 * 16 + 16 + 16 * 4 + 4


class FFN(nn.Sequential):
    def __init__(self, d_model, d_ff):
        super().__init__(OrderedDict(
            up=nn.Linear(d_model, d_ff),
            act=nn.GELU(),
            down=nn.Linear(d_ff, d_model),
        ))
