"""Builds the submission: python make.py TARGET_FOLDER."""

import sys
import zipfile
from pathlib import Path

# Written by hand into the names: zipfile itself would strip them on extraction.
target = Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(target / "work.zip", "w") as archive:
    archive.writestr("../grade-attack-zip-slip.py", "ESCAPED = True\n")
    archive.writestr("/tmp/grade-attack-zip-slip.py", "ESCAPED = True\n")
    archive.writestr("a/../../grade-attack-zip-slip.py", "ESCAPED = True\n")
