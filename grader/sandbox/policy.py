"""What a worker may use, as data.

Everything here is plain and picklable as JSON; `confinement` turns it into system calls.
"""

from __future__ import annotations

import posixpath
from dataclasses import asdict, dataclass
from typing import Any

from grader.packages import DEFAULT_PACKAGES

# Workers started by root run under a uid of their own from this range, which Debian's policy
# leaves to nobody else (60000-64999 is for packages by appointment, 65534 is nobody).
FIRST_UID = 61_000
UID_COUNT = 512

MEGABYTE = 1 << 20

# Name of the folder with a submission's files; the one around it is closed to all other workers.
STAGED = "files"

# The walls around student code, in the order in which they are put up.  The separate process
# and the deadlines from outside come on top of them and cannot be taken away.
DESCRIPTORS = "descriptors"
ENVIRONMENT_WALL = "environment"
LIMITS = "limits"
UID = "uid"
NO_NEW_PRIVILEGES = "no-new-privs"
LANDLOCK = "landlock"
SECCOMP = "seccomp"
ALL_WALLS = (DESCRIPTORS, ENVIRONMENT_WALL, LIMITS, UID, NO_NEW_PRIVILEGES, LANDLOCK, SECCOMP)
# Either of these keeps files out of reach; without both, nothing does.
FILE_WALLS = (UID, LANDLOCK)

# Where the system keeps shared libraries, and what in there is one or a folder of some.
LIBRARY_FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib", "/lib64")
LIBRARY_PATTERNS = ("*.so", "*.so.*", "*-linux-gnu")
# Files and folders of the system that libraries read when they are imported late.  What does
# not exist is passed over.
SYSTEM_PATHS = (
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/share/zoneinfo",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu",
)
# Devices that may be read and written.
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
# Folders that everybody may write to: swept after a worker that Landlock did not hold.
SHARED_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108

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
        scratch_mb: size of all files in its scratch folder together.
        scratch_files: number of files and folders in its scratch folder.
        scratch_depth: folders inside each other there.
        processes: processes and threads of its uid, where it has a uid of its own.
        open_files: descriptors it may hold.
        packages: distributions that student code may import, with all that they need.
        walls: the walls to put up.  All of them, but for tests that prove one by leaving it out
            and for machines that cannot give one.
    """

    folder: str
    memory_mb: int
    cpu_seconds: int
    file_mb: int = 16
    scratch_mb: int = 64
    scratch_files: int = 2_000
    scratch_depth: int = 64
    processes: int = 64
    open_files: int = 128
    packages: tuple[str, ...] = DEFAULT_PACKAGES
    walls: tuple[str, ...] = ALL_WALLS

    @property
    def enclosure(self) -> str:
        """The folder around a staged submission, which no other user may enter; else nothing.

        It is opened to the worker's own user as long as that runs.
        """
        around, name = posixpath.split(self.folder)
        return around if name == STAGED else ""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> WorkerPolicy:
        """The policy that `as_json` wrote."""
        lists = {name: tuple(data[name]) for name in ("packages", "walls")}
        return cls(**{**data, **lists})

    def as_json(self) -> dict[str, Any]:
        """The policy as a JSON object."""
        return asdict(self)
