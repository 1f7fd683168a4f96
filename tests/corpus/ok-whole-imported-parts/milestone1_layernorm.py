from transformer import layernorm_scratch

PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]
