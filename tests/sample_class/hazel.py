import torch, torch.nn as nn, torch.nn.functional as F

torch.manual_seed(42)


# ---- milestone 1 ----
def layernorm_scratch(x, eps=1e-5):
    mu = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mu) / (var + eps).sqrt()


xv = torch.tensor([[1.0, 3.0, 5.0, 7.0]])
print("scratch:", layernorm_scratch(xv))
print("nn.LN:  ", nn.LayerNorm(4, elementwise_affine=False)(xv))


# ---- milestone 2 ----
PREDICTED_PARAMETERS = 148


class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


ffn = FFN(4, 16)
print("params:", sum(p.numel() for p in ffn.parameters()), "predicted:", PREDICTED_PARAMETERS)


# ---- milestone 3 ----
PREDICTED_PARAMETERS = 840


class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.dk = h, d // h
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, D = x.shape
        Q = self.Wq(x).view(B, T, self.h, self.dk).transpose(1, 2)
        K = self.Wk(x).view(B, T, self.h, self.dk).transpose(1, 2)
        V = self.Wv(x).view(B, T, self.h, self.dk).transpose(1, 2)
        A = torch.softmax(Q @ K.transpose(-2, -1) / self.dk**0.5, dim=-1)
        return self.Wo((A @ V).transpose(1, 2).reshape(B, T, D))


class EncoderBlock(nn.Module):
    def __init__(self, d, h, d_ff):
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = Attention(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.ffn = FFN(d, d_ff)

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.ffn(self.norm2(x))
        return x


block = EncoderBlock(8, 2, 32)
x = torch.randn(2, 5, 8)
assert block(x).shape == x.shape
print("params:", sum(p.numel() for p in block.parameters()), "predicted:", PREDICTED_PARAMETERS)
