"""Builds the submission: python make.py TARGET_FOLDER."""

import struct
import sys
from pathlib import Path

# Written by hand: zipfile takes seconds for this.
target = Path(sys.argv[1])
target.mkdir(parents=True, exist_ok=True)
local, central = bytearray(), bytearray()
for number in range(100_000):
    name = b"%05d.py" % number
    offset = len(local)
    local += struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0) + name
    central += (
        struct.pack(
            "<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, len(name), 0, 0, 0, 0, 0, offset
        )
        + name
    )
# The count in the old format ends at 65,535; readers go by the size of the directory.
end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 65_535, 65_535, len(central), len(local), 0)
(target / "work.zip").write_bytes(local + central + end)
