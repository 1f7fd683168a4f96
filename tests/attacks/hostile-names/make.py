"""Builds the submission: python make.py TARGET_FOLDER."""

import os
import sys
from pathlib import Path

target = Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
plain = [
    "line\nbreak.py",
    "\x1b[2J\x1b[31mred.py",
    "\u202eyp.evil.py",
    "<script>alert(1)<script>.py",
    "| table | [x](javascript:alert(1)).py",
    "x" * 250 + ".py",
]
for name in plain:
    (target / name).write_text("ANSWER = 42\n")
# No text in any encoding that Python would guess.
os.close(os.open(os.fsencode(target) + b"/M\xfcller.py", os.O_CREAT | os.O_WRONLY))
# Left out because of its size, which a note tells.
(target / "=HYPERLINK(1)\x1b[31m.py").write_text("#" * (2 << 20))
# Graded in place of the milestone's file, which another note tells.
(target / "\x1b[31m<script>alert(2)<script>\n.py").write_text(
    "def layernorm_scratch(x, eps=1e-5):\n    raise ValueError\n"
)
