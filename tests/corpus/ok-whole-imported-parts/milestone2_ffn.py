from transformer import FFN

PREDICTED_PARAMETERS = 148
