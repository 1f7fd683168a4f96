from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x
