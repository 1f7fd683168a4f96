"""Builds the submission: python make.py TARGET_FOLDER."""

import sys
from pathlib import Path

target = Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
(target / "milestone1_layernorm.py").write_text("PREDICTED_XHAT = [0.0, 0.0, 0.0, 0.0]\n")
(target / "Milestone1_LayerNorm.py").write_text(
    "PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]\n"
)
