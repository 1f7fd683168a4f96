"""Builds the submission: python make.py TARGET_FOLDER."""

import os
import sys
from pathlib import Path

target = Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
outside = os.__file__  # any file that exists and is none of the student's
(target / "milestone1_layernorm.py").symlink_to(outside)
(target / "more").symlink_to(os.path.dirname(outside))
