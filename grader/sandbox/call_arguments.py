"""With which arguments a worker may make some system calls, as data.

These are calls that have harmless and harmful uses; `syscalls` says to which each rule belongs.
"""

from __future__ import annotations

from grader.sandbox.call_rules import Cases, Check, null, one_of, only_bits, own_process, without


def opening(flags: int) -> Cases:
    """Rule on the flags of open and openat.

    Landlock of ABI 1 and 2 asks for no right to write where O_TRUNC empties a file that is opened
    for reading.  The scratch folder's quota does not see files without a name (O_TMPFILE).
    O_ASYNC, and bits that nobody uses, go too.
    """
    text = f"argument {flags} is without O_TMPFILE and O_ASYNC; O_TRUNC only where it writes"
    return ((Check(flags, 0xFFC02203, (0, 1, 2, 0x201, 0x202), text),),)


def folder(mode: int) -> Cases:
    """Rule on the mode of a new folder: the quota must be able to look into it."""
    return ((Check(mode, 0o700, (0o700,), f"argument {mode} has the bits 0700"),),)


# F_SETOWN, F_SETSIG, F_NOTIFY and O_ASYNC send signals to processes, F_SETLEASE holds them up.
FCNTL: Cases = (
    (one_of(1, F_DUPFD=0, F_GETFD=1, F_SETFD=2, F_GETFL=3, F_GETLK=5, F_DUPFD_CLOEXEC=1030),),
    (one_of(1, F_SETFL=4), without(2, O_ASYNC=0x2000)),
)
# A worker is one process: its locks would hold back nobody but others.
FCNTL_LOCKS: Cases = ((one_of(1, F_SETLK=6, F_SETLKW=7, F_OFD_SETLK=37, F_OFD_SETLKW=38),),)
IOCTL: Cases = ((one_of(
    1, TCGETS=0x5401, TCGETS2=0x802C542A, TIOCGWINSZ=0x5413, FIOCLEX=0x5451, FIONCLEX=0x5450,
    FIONBIO=0x5421, FIONREAD=0x541B,
),),)  # fmt: skip
CLOSE_RANGE: Cases = ((one_of(2, nothing=0, CLOSE_RANGE_CLOEXEC=4),),)
# Folders that the quota cannot look into could be made with a mask as well.
UMASK: Cases = ((without(0, **{"0700": 0o700}),),)
# Only streams: with a socket for datagrams a worker could write to any that has a name.
SOCKET_PAIR: Cases = ((
    one_of(0, AF_UNIX=1),
    Check(1, 0xFFF7F7FF, (1,), "argument 1 is SOCK_STREAM, perhaps NONBLOCK, CLOEXEC"),
),)  # fmt: skip
# No locked memory, and no pages of the machine's reserve of huge ones.
MAPPING: Cases = ((only_bits(
    3, MAP_SHARED=0x1, MAP_PRIVATE=0x2, MAP_FIXED=0x10, MAP_ANONYMOUS=0x20, MAP_32BIT=0x40,
    MAP_GROWSDOWN=0x100, MAP_DENYWRITE=0x800, MAP_EXECUTABLE=0x1000, MAP_NORESERVE=0x4000,
    MAP_POPULATE=0x8000, MAP_NONBLOCK=0x10000, MAP_STACK=0x20000, MAP_FIXED_NOREPLACE=0x100000,
),),)  # fmt: skip
# Not what takes away pages that others use, nor what merges equal ones and so tells of them.
ADVICE: Cases = ((one_of(
    2, MADV_HUGEPAGE=14, MADV_DONTNEED=4, MADV_FREE=8, MADV_NORMAL=0, MADV_RANDOM=1,
    MADV_SEQUENTIAL=2, MADV_WILLNEED=3, MADV_NOHUGEPAGE=15, MADV_DONTDUMP=16, MADV_DODUMP=17,
),),)  # fmt: skip
# Needed: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM.  Free: SETTLS, PARENT_SETTID, CHILD_CLEARTID,
# DETACHED, CHILD_SETTID.
THREAD: Cases = ((Check(
    0, 0xFE87FFFF, (0x00050F00,), "argument 0 has the flags of a thread and no others", wide=True
),),)  # fmt: skip
# Without priority inheritance, which glibc uses only for mutexes that ask for it.
FUTEX: Cases = ((Check(
    1, 0xFFFFFE7F, (0, 1, 9, 10, 3, 4, 5),
    "argument 1 is WAIT, WAKE, WAIT_BITSET, WAKE_BITSET, REQUEUE, CMP_REQUEUE or WAKE_OP",
),),)  # fmt: skip
PRCTL: Cases = (
    (one_of(
        0, PR_SET_NAME=15, PR_GET_NAME=16, PR_GET_DUMPABLE=3, PR_GET_SECCOMP=21,
        PR_CAPBSET_READ=23, PR_GET_NO_NEW_PRIVS=39, PR_SVE_GET_VL=51, PR_GET_TAGGED_ADDR_CTRL=56,
        PR_PAC_GET_ENABLED_KEYS=61, PR_SME_GET_VL=64,
    ),),
    (one_of(0, PR_SET_VMA=0x53564D41), null(1)),
)  # fmt: skip
ARCH_PRCTL: Cases = ((one_of(
    0, ARCH_GET_XCOMP_SUPP=0x1021, ARCH_GET_XCOMP_PERM=0x1022, ARCH_REQ_XCOMP_PERM=0x1023
),),)  # fmt: skip
# Other numbers mean the processor time of any process.
CLOCK: Cases = ((one_of(
    0, REALTIME=0, MONOTONIC=1, PROCESS_CPUTIME_ID=2, THREAD_CPUTIME_ID=3, MONOTONIC_RAW=4,
    REALTIME_COARSE=5, MONOTONIC_COARSE=6, BOOTTIME=7, TAI=11,
),),)  # fmt: skip
WITHOUT_ADDRESS: Cases = ((null(4),),)
OWN_PROCESS_ONLY: Cases = ((own_process(0),),)
OWN_PROCESS_OR_ZERO: Cases = ((own_process(0, zero=True),),)
