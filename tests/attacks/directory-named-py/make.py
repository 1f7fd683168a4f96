"""Builds the submission: python make.py TARGET_FOLDER."""

import sys
from pathlib import Path

target = Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
folder = target / "milestone1_layernorm.py"
folder.mkdir()
(folder / "answer.txt").write_text("def layernorm_scratch(x, eps=1e-5): ...\n")
