"""Builds the submission: python make.py TARGET_FOLDER."""

import os
import sys
from pathlib import Path

target = Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
os.mkfifo(target / "milestone1_layernorm.py")
