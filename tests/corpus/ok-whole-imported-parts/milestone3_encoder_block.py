from transformer import *

PREDICTED_PARAMETERS = 840
