"""Milestone 2: the feed-forward sublayer (lesson 82, slides 23 to 33 and 52).

Each token passes through the same small network, independently of the other
tokens: expand from d_model to d_ff features, apply GELU, project back:

    FFN(x) = W2 GELU(W1 x + b1) + b2

W1 has shape (d_ff, d_model), W2 has shape (d_model, d_ff).  GELU is the exact
one, x * Phi(x), which is what F.gelu and nn.GELU compute by default.

Keep the names in this file; the tests look for them.
"""

import torch
from torch import nn

# Predict before you run: the number of parameters of FFN(d_model=4, d_ff=16).
# Replace None by your number.
PREDICTED_PARAMETERS = None


class FFN(nn.Module):
    """Position-wise feed-forward network.

    Attributes:
        w1: nn.Linear from d_model to d_ff features, with bias.
        w2: nn.Linear from d_ff to d_model features, with bias.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        """Create the two layers.

        Args:
            d_model: number of features of a token, at the input and output.
            d_ff: number of features in between, usually 4 * d_model.
        """
        super().__init__()
        raise NotImplementedError("Milestone 2: create self.w1 and self.w2")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the network to every token on its own.

        Args:
            x: tensor of shape (T, d_model), (B, T, d_model) or with more
                dimensions in front.

        Returns:
            Tensor of the same shape and dtype as x.
        """
        raise NotImplementedError("Milestone 2: write FFN.forward")
