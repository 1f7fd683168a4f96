{\rtf1\ansi\deff0{\fonttbl{\f0 Courier;}}
\f0\fs22 import torch\par
from torch import nn\par
class FFN(nn.Module):\par
}
