"""Milestone 3: the pre-norm EncoderBlock."""

import torch
from torch import nn

# Attention 4 * 64, two norms 2 * 16, feed-forward 32 * 8 + 32 + 8 * 32 + 8.
PREDICTED_PARAMETERS = 840


class MultiHeadSelfAttn(nn.Module):
    """Multi-head self-attention without biases."""

    def __init__(self, d: int, h: int) -> None:
        """Create the four projections of d features with h heads (h divides d)."""
        super().__init__()
        self.h = h
        self.dk = d // h
        self.Wq = nn.Linear(d, d, bias=False)
        self.Wk = nn.Linear(d, d, bias=False)
        self.Wv = nn.Linear(d, d, bias=False)
        self.Wo = nn.Linear(d, d, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x of shape (B, T, d) to a tensor of the same shape."""
        B, T, D = x.shape

        def split(W: nn.Linear) -> torch.Tensor:
            return W(x).view(B, T, self.h, self.dk).transpose(1, 2)

        Q, K, V = split(self.Wq), split(self.Wk), split(self.Wv)
        attn = (Q @ K.transpose(-2, -1) / self.dk**0.5).softmax(-1)
        return self.Wo((attn @ V).transpose(1, 2).reshape(B, T, D))


class EncoderBlock(nn.Module):
    """Pre-norm Transformer encoder block."""

    def __init__(self, d: int, h: int, d_ff: int) -> None:
        """Create the two sublayers, each with a norm of its own."""
        super().__init__()
        self.norm1 = nn.LayerNorm(d)
        self.attn = MultiHeadSelfAttn(d, h)
        self.norm2 = nn.LayerNorm(d)
        self.order = nn.Parameter(torch.arange(d), requires_grad=False)
        self.ffn = nn.Sequential(nn.Linear(d, d_ff), nn.GELU(), nn.Linear(d_ff, d))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Map x of shape (B, T, d) to a tensor of the same shape."""
        x = x + self.attn(self.norm1(x))
        x = x[..., self.order]
        return x + self.ffn(self.norm2(x))
