import random
import warnings

import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class MHA(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h = h
        self.dk = d // h
        self.Wq = nn.Linear(d, d, bias=False)
        self.Wk = nn.Linear(d, d, bias=False)
        self.Wv = nn.Linear(d, d, bias=False)
        self.Wo = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = [W(x).view(B, T, self.h, self.dk).transpose(1, 2) for W in (self.Wq, self.Wk, self.Wv)]
        a = (q @ k.transpose(-2, -1) / self.dk**0.5).softmax(-1)
        return self.Wo((a @ v).transpose(1, 2).reshape(B, T, D))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = MHA(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


warnings.filterwarnings("ignore")
random.seed(0)
torch.manual_seed(0)
torch.set_float32_matmul_precision("high")

model = nn.Sequential(EncoderBlock(8, 2, 32), EncoderBlock(8, 2, 32))
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
data = torch.randn(8, 5, 8)
for step in range(20):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(data), data.roll(1, dims=1))
    loss.backward()
    opt.step()
    print("step", step, "loss", round(loss.item(), 4))
