"""A container as Gradescope starts it, made of what every Linux has: for root only.

A root folder of its own, processes and mounts of its own, Docker's capabilities and system calls
(`tests/privileges.py`), and control groups that give all processes together the memory and the
processor of Gradescope's default size.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.measuring import SAMPLE_SECONDS, process_tree, pss_kb
from tests.corpus_run import ROOT
from tests.privileges import CONTAINER_CAPABILITIES

MEMORY_MB = 768
PROCESSORS = 0.5
PERIOD_MICROSECONDS = 100_000
CONTROL_GROUPS = Path("/sys/fs/cgroup")
DEVICES = ("null", "zero", "full", "random", "urandom")
AUTOGRADER = Path("/autograder")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Mounts what the arguments name, in a namespace of its own, then becomes the rest of the command.
ENTER = """
set -e
root=$1; shift
mount --make-rprivate /
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir -p "$root$1"; else mkdir -p "$(dirname "$root$1")"; : >>"$root$1"; fi
  mount --bind -o ro "$1" "$root$1"; shift
done
shift
mkdir -p "$root/proc" && mount -t proc proc "$root/proc"
exec "$@"
"""


@dataclass(frozen=True)
class Ran:
    """How a command ended in a container.

    Attributes:
        output: standard output and error, as Gradescope keeps them.
        peak_mb: the largest sum of the proportional set sizes of all its processes; MB.
        limited: whether control groups held memory and processor.
    """

    status: int
    output: str
    peak_mb: float
    limited: bool


@dataclass(frozen=True)
class Container:
    """A root folder, and what is seen in it of the machine.

    Attributes:
        shown: files and folders of this machine, read-only at the same place.
        environment: of every command.
    """

    root: Path
    shown: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def autograder(self) -> Path:
        """Gradescope's folder, seen from outside."""
        return self.root / AUTOGRADER.relative_to("/")

    def run(self, *command: str, limited: bool = True, landlock: bool = True) -> Ran:
        """Run a command as root of the container, in Gradescope's folder.

        Args:
            command: the command.
            limited: with Gradescope's default memory and processor.
            landlock: on a kernel that has it.
        """
        without = () if landlock else (sys.executable, "-m", "tests.privileges", "no-landlock")
        bounding = ",".join(["-all", *(f"+{name}" for name in CONTAINER_CAPABILITIES)])
        words: list[str] = [
            *("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh"),
            *(str(self.root), *map(str, self.shown), "--"),
            *without,
            *(sys.executable, "-m", "tests.privileges", "container"),
            *("setpriv", f"--bounding-set={bounding}", f"--inh-caps={bounding}"),
            *("chroot", str(self.root)),
            *("/usr/bin/env", "-i", "-C", str(AUTOGRADER), f"PATH={PATH}", "HOME=/root"),
            *(f"{name}={value}" for name, value in self.environment.items()),
            *command,
        ]
        with ExitStack() as stack:
            groups = stack.enter_context(control_groups()) if limited else []
            printed = stack.enter_context(tempfile.TemporaryFile())

            def join() -> None:
                for group in groups:
                    (group / "cgroup.procs").write_text(str(os.getpid()))

            process = subprocess.Popen(
                words, cwd=ROOT, stdout=printed, stderr=printed, preexec_fn=join
            )
            peak = watch(process)
            printed.seek(0)
            output = printed.read().decode(errors="replace")
        return Ran(process.returncode, output, peak, bool(groups))


def watch(process: subprocess.Popen[bytes]) -> float:
    """Wait for a process; the largest memory of it and all below it, in MB."""
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(map(pss_kb, process_tree(process.pid))))
        with suppress(subprocess.TimeoutExpired):
            process.wait(SAMPLE_SECONDS)
    return peak / 1024


@contextmanager
def control_groups() -> Iterator[list[Path]]:
    """Control groups of Gradescope's default size; none where this machine lets nobody make any."""
    name = f"grade-rehearsal-{os.getpid()}-{time.monotonic_ns()}"
    quota = str(int(PROCESSORS * PERIOD_MICROSECONDS))
    memory = str(MEMORY_MB << 20)
    if (CONTROL_GROUPS / "cgroup.controllers").is_file():
        wanted = {
            CONTROL_GROUPS / name: {
                "memory.max": memory,
                "cpu.max": f"{quota} {PERIOD_MICROSECONDS}",
            }
        }
    else:
        wanted = {
            CONTROL_GROUPS / "memory" / name: {"memory.limit_in_bytes": memory},
            CONTROL_GROUPS / "cpu" / name: {"cpu.cfs_quota_us": quota},
        }
    made: list[Path] = []
    try:
        with suppress(OSError):
            for folder, settings in wanted.items():
                folder.mkdir()
                made.append(folder)
                for setting, value in settings.items():
                    (folder / setting).write_text(value)
        complete = len(made) == len(wanted)
        yield made if complete else []
    finally:
        for folder in made:
            remove_group(folder)


def remove_group(folder: Path) -> None:
    """Remove a control group as soon as the kernel has taken its last process out."""
    for _ in range(500):
        with suppress(OSError):
            folder.rmdir()
            return
        time.sleep(0.01)


def bare_root(root: Path) -> Container:
    """An empty root in which this machine's programs, interpreter and packages are seen."""
    for name in ("tmp", "var/tmp", "root", "dev", "proc", "autograder"):
        (root / name).mkdir(parents=True)
    root.chmod(0o755)
    for name in ("tmp", "var/tmp"):
        (root / name).chmod(0o1777)
    shown = [Path("/usr"), Path("/etc"), *(Path("/dev") / name for name in DEVICES)]
    for name in ("bin", "sbin", "lib", "lib64"):
        place = Path("/") / name
        if place.is_symlink():
            (root / name).symlink_to(place.readlink())
        elif place.exists():
            shown.append(place)
    own = {Path(sys.base_prefix), Path(sysconfig.get_path("purelib"))}
    shown += [path for path in own | packages() if not path.is_relative_to("/usr")]
    return Container(root, tuple(shown))


def packages() -> set[Path]:
    """Folders that this environment's packages are imported from, the project's own not."""
    return {
        Path(entry)
        for entry in sys.path
        if entry.endswith("site-packages") and not Path(entry).is_relative_to(sys.base_prefix)
    }


def upload(container: Container, archive: Path) -> None:
    """Do with an archive what Gradescope does before it runs setup.sh."""
    folder = container.autograder
    source = folder / "source"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", archive, source], check=True)
    shutil.copyfile(source / "run_autograder", folder / "run_autograder")
    (folder / "run_autograder").chmod(0o755)


def hand_in(container: Container, submission: Path | None, metadata: bytes | None) -> None:
    """Put a submission and its metadata where Gradescope's harness puts them."""
    folder = container.autograder
    for name in ("submission", "results"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "results").mkdir()
    if submission is None:
        (folder / "submission").mkdir()
    else:
        shutil.copytree(submission, folder / "submission")
    (folder / "submission_metadata.json").unlink(missing_ok=True)
    if metadata is not None:
        (folder / "submission_metadata.json").write_bytes(metadata)
