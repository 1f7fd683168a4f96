from torch import nn
import torch.nn.functional as F

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.parts = nn.ModuleDict({
            "contract": nn.Linear(d_ff, d_model),
            "expand": nn.Linear(d_model, d_ff),
        })

    def forward(self, x):
        hidden = F.gelu(self.parts["expand"](x))
        return self.parts["contract"](hidden)
