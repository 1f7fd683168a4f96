import torch
from torch import nn

PREDICTED_PARAMETERS = 840


class MHA(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        dk = d // h
        self.scale = dk ** 0.5
        self.q = nn.Parameter(torch.empty(h, d, dk))
        self.k = nn.Parameter(torch.empty(h, d, dk))
        self.v = nn.Parameter(torch.empty(h, d, dk))
        self.o = nn.Parameter(torch.empty(h, dk, d))
        for p in self.parameters():
            nn.init.normal_(p, std=0.3)

    def forward(self, x):
        q = torch.einsum("btd,hdc->bhtc", x, self.q)
        k = torch.einsum("btd,hdc->bhtc", x, self.k)
        v = torch.einsum("btd,hdc->bhtc", x, self.v)
        a = (torch.einsum("bhtc,bhsc->bhts", q, k) / self.scale).softmax(-1)
        return torch.einsum("bhts,bhsc,hcd->btd", a, v, self.o)


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
