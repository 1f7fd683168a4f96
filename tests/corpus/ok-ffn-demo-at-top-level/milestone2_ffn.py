import torch, torch.nn as nn, torch.nn.functional as F
torch.manual_seed(0)

# 4*16 + 16 + 16*4 + 4
PREDICTED_PARAMETERS = 148

class FFN(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_ff)
        self.w2 = nn.Linear(d_ff, d_model)
    def forward(self, x): return self.w2(F.gelu(self.w1(x)))

ffn = FFN(4, 16)
x   = torch.tensor([[1.0, 0.0, -1.0, 0.5]])
out = ffn(x)
params = sum(p.numel() for p in ffn.parameters())
print('output:', [round(v,4) for v in out.squeeze().tolist()])
print('params:', params)
if params != PREDICTED_PARAMETERS:
    raise SystemExit("my prediction was wrong")
