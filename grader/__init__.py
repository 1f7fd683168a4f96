"""An auto-grader for PyTorch assignments on the Transformer encoder block."""

__version__ = "0.1.0"
