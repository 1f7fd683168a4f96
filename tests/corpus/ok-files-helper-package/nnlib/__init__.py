from .norm import LayerNorm
from .attention import MHA
