import torch.nn.functional as F
from torch import nn

PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        # kernel_size=1 looks at one token only, so no mixing
        self.conv1 = nn.Conv1d(d_model, d_ff, kernel_size=1)
        self.conv2 = nn.Conv1d(d_ff, d_model, kernel_size=1)

    def forward(self, x):
        shape = x.shape
        x = x.reshape(1, -1, shape[-1]).transpose(1, 2)
        x = self.conv2(F.gelu(self.conv1(x)))
        return x.transpose(1, 2).reshape(shape)
