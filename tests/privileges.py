"""Commands under other rights than root's: as an ordinary user, and as in a container."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import struct
import subprocess
import sys
import sysconfig
from pathlib import Path

from grader.sandbox.landlock import ADD_RULE, CREATE_RULESET, RESTRICT_SELF
from grader.sandbox.seccomp import (
    ALLOW,
    ARCHITECTURE_OFFSET,
    ERROR,
    FIRST_ARGUMENT_OFFSET,
    IF_BITS,
    IF_EQUAL,
    KILL_PROCESS,
    LOAD,
    NUMBER_OFFSET,
    PR_SET_SECCOMP,
    RETURN,
    SECCOMP_MODE_FILTER,
    Instruction,
)
from grader.sandbox.syscalls import ARCHITECTURES, CALLS
from tests.corpus_run import ROOT
from tests.refused_calls import REFUSED

ORDINARY_UID = 12_345
# What Docker leaves to root in a container (moby, profiles and oci/caps/defaults.go).
CONTAINER_CAPABILITIES = (
    "chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "setpcap",
    "net_bind_service", "net_raw", "sys_chroot", "mknod", "audit_write", "setfcap",
)  # fmt: skip
# What Docker's default seccomp profile refuses to a process without further capabilities; clone3
# answers ENOSYS, clone may make no namespaces.
CONTAINER_REFUSES = (
    "acct", "add_key", "bpf", "clock_adjtime", "clock_settime", "delete_module",
    "fanotify_init", "finit_module", "fsconfig", "fsmount", "fsopen", "fspick", "init_module",
    "ioperm", "iopl", "io_uring_enter", "io_uring_register", "io_uring_setup", "kexec_file_load",
    "kexec_load", "keyctl", "lookup_dcookie", "mount", "mount_setattr", "move_mount",
    "move_pages", "open_by_handle_at", "open_tree", "perf_event_open", "personality",
    "pivot_root", "quotactl", "reboot", "request_key", "setdomainname", "sethostname", "setns",
    "settimeofday", "swapoff", "swapon", "syslog", "umount2", "unshare", "userfaultfd",
    "vhangup",
)  # fmt: skip
NEW_NAMESPACES = 0x7E020000


def ordinary_python(folder: Path) -> Path | None:
    """An interpreter with this project's packages that every user may run, if there is one."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for candidate in (f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        if Path(candidate).is_file():
            subprocess.run(
                [candidate, "-m", "venv", "--without-pip", str(folder / "venv")], check=True
            )
            packages = folder / "venv" / "lib" / version / "site-packages"
            (packages / "project.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
            return folder / "venv" / "bin" / "python"
    return None


def run_as_ordinary_user(python: Path, arguments: list[str], folder: Path) -> None:
    """Run a module of the tests as a user without any right."""
    folder.chmod(0o777)
    temporary = folder / "tmp"
    temporary.mkdir()
    temporary.chmod(0o777)
    identity = [f"--reuid={ORDINARY_UID}", f"--regid={ORDINARY_UID}", "--clear-groups"]
    command = ["setpriv", *identity, "--inh-caps=-all", str(python), *arguments]
    environment = {**os.environ, "TMPDIR": str(temporary), "HOME": str(temporary)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def run_without_landlock(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command on what looks like a kernel without Landlock: its calls answer ENOSYS."""
    starter = [sys.executable, "-m", "tests.privileges", "no-landlock", *command]
    return subprocess.run(starter, cwd=ROOT, capture_output=True, text=True)


def run_as_in_container(arguments: list[str]) -> None:
    """Run a module of the tests as root with a container's capabilities and system calls."""
    bounding = ",".join(["-all", *(f"+{name}" for name in CONTAINER_CAPABILITIES)])
    setpriv = ["setpriv", f"--bounding-set={bounding}", f"--inh-caps={bounding}"]
    command = [*setpriv, sys.executable, *arguments]
    starter = [sys.executable, "-m", "tests.privileges", "container", *command]
    done = subprocess.run(starter, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def container_filter(machine: str) -> list[Instruction]:
    """A filter that refuses what a container's does."""
    column = 0 if machine == "x86_64" else 1
    (clone,) = (call.number(machine) for call in CALLS if call.name == "clone")
    clone3 = REFUSED["clone3"][column]
    assert clone is not None
    assert clone3 is not None
    program: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE_OFFSET),
        (IF_EQUAL, 1, 0, ARCHITECTURES[machine]),
        (RETURN, 0, 0, KILL_PROCESS),
        (LOAD, 0, 0, NUMBER_OFFSET),
        (IF_EQUAL, 0, 1, clone3),
        (RETURN, 0, 0, ERROR | errno.ENOSYS),
    ]
    for name in CONTAINER_REFUSES:
        number = REFUSED[name][column]
        if number is not None:
            program += [(IF_EQUAL, 0, 1, number), (RETURN, 0, 0, ERROR | errno.EPERM)]
    program += [
        (IF_EQUAL, 0, 3, clone),
        (LOAD, 0, 0, FIRST_ARGUMENT_OFFSET),
        (IF_BITS, 0, 1, NEW_NAMESPACES),
        (RETURN, 0, 0, ERROR | errno.EPERM),
    ]
    return [*program, (RETURN, 0, 0, ALLOW)]


def no_landlock_filter(machine: str) -> list[Instruction]:
    """A filter under which there is no Landlock."""
    calls = (CREATE_RULESET, ADD_RULE, RESTRICT_SELF)
    program: list[Instruction] = [(LOAD, 0, 0, NUMBER_OFFSET)]
    for number in calls:
        program += [(IF_EQUAL, 0, 1, number), (RETURN, 0, 0, ERROR | errno.ENOSYS)]
    return [*program, (RETURN, 0, 0, ALLOW)]


FILTERS = {"container": container_filter, "no-landlock": no_landlock_filter}


def main() -> None:
    """Put the named filter in force, then become the given command."""
    program = FILTERS[sys.argv[1]](os.uname().machine)
    packed = b"".join(struct.pack("HBBI", *instruction) for instruction in program)

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    argument = Program(len(program), packed)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(argument), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    command = shutil.which(sys.argv[2]) or sys.argv[2]
    os.execv(command, sys.argv[2:])


if __name__ == "__main__":
    main()
