"""What a worker may use, as data.

Everything here is plain and picklable as JSON; `confinement` turns it into system calls.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# Workers started by root run under a uid of their own from this range, which Debian's policy
# leaves to nobody else (60000-64999 is for packages by appointment, 65534 is nobody).
FIRST_UID = 61_000
UID_COUNT = 512

MEGABYTE = 1 << 20

# The only environment that student code sees.  HOME and TMPDIR are added: its scratch folder.
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MPLBACKEND": "Agg",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclass(frozen=True)
class WorkerPolicy:
    """The limits of one worker.

    Attributes:
        folder: the submission's files, as an absolute path.
        memory_mb: address space beyond what the process has when it starts.
        cpu_seconds: processor time after which the kernel ends it.
        file_mb: size of the largest file it may write.
        processes: processes and threads of its uid, where it has a uid of its own.
        open_files: descriptors it may hold.
    """

    folder: str
    memory_mb: int
    cpu_seconds: int
    file_mb: int = 16
    processes: int = 64
    open_files: int = 256

    def as_json(self) -> dict[str, Any]:
        """The policy as a JSON object."""
        return asdict(self)
