from torch import nn


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
