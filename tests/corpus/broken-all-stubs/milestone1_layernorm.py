"""Milestone 1: LayerNorm from scratch (lesson 82, slides 4 to 14 and 51).

LayerNorm looks at one token at a time.  It takes that token's feature vector
of length d, computes the mean and the variance over these d features, and
rescales:

    mean = (x_1 + ... + x_d) / d
    var  = ((x_1 - mean)^2 + ... + (x_d - mean)^2) / d
    xhat = (x - mean) / sqrt(var + eps)

Write the function yourself: no nn.LayerNorm, F.layer_norm or any other
built-in normalisation.  Keep the names in this file; the tests look for them.
"""

import torch

# Predict before you run: xhat for x = [1, 3, 5, 7] and eps = 1e-5, as a list
# of four numbers rounded to four decimals.  Replace None by your list.
PREDICTED_XHAT = None


def layernorm_scratch(x: torch.Tensor, eps: float = 1e-5) -> torch.Tensor:
    """Normalise each token over its features (the last dimension).

    Args:
        x: tensor of shape (d,), (T, d), (B, T, d) or with more dimensions in
            front, dtype float32 or float64.  The last dimension holds the d
            features of one token.  x itself must not be changed.
        eps: small positive number, added to the variance inside the root.

    Returns:
        Tensor of the same shape and dtype as x.  There is no gain and no
        shift here: over its features, each token of the result has mean 0
        and a variance very close to 1.
    """
    raise NotImplementedError("Milestone 1: write layernorm_scratch")
