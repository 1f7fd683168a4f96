"""Milestone 3: the pre-norm EncoderBlock (lesson 82, slides 15 to 20, 34 to 40 and 54).

The block chains two sublayers.  Each one is guarded by a LayerNorm of its own
and wrapped in a residual connection:

    x = x + attn(norm1(x))     # sublayer 1: multi-head self-attention
    x = x + ffn(norm2(x))      # sublayer 2: feed-forward network

With d = 8, h = 2 and d_ff = 32 the block has 840 parameters.

MultiHeadSelfAttn is given, complete, from the lesson before.  nn.LayerNorm is
allowed here.  Keep the names in this file; the tests look for them.
"""

import torch
from torch import nn

# Predict before you run: the number of parameters of
# EncoderBlock(d=8, h=2, d_ff=32).  Replace None by your number.
PREDICTED_PARAMETERS = None


class MultiHeadSelfAttn(nn.Module):
    """Multi-head self-attention without biases.  Given: nothing to do here."""

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
    """Pre-norm Transformer encoder block.

    Attributes:
        norm1: nn.LayerNorm over d features, guards the attention.
        attn: MultiHeadSelfAttn with h heads.
        norm2: nn.LayerNorm over d features, guards the feed-forward network.
        ffn: the feed-forward network, d to d_ff to d features with GELU.
    """

    def __init__(self, d: int, h: int, d_ff: int) -> None:
        """Create the four parts.

        Args:
            d: number of features of a token.
            h: number of attention heads; h divides d.
            d_ff: number of features inside the feed-forward network.
        """
        super().__init__()
        raise NotImplementedError("Milestone 3: create norm1, attn, norm2 and ffn")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply both sublayers.

        Args:
            x: tensor of shape (B, T, d).

        Returns:
            Tensor of shape (B, T, d), ready for the next block.
        """
        raise NotImplementedError("Milestone 3: write EncoderBlock.forward")
