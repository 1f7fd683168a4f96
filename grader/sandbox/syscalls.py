"""Which system calls a worker may not make, as data.

Numbers from the kernel's own tables: arch/x86/entry/syscalls/syscall_64.tbl for x86-64,
include/uapi/asm-generic/unistd.h for aarch64.  `None`: the processor has no such call.
"""

from __future__ import annotations

# Calls newer than this answer ENOSYS: nobody has judged them yet, and C libraries fall back.
NEWEST_KNOWN = 462

# AUDIT_ARCH_* of linux/audit.h, and the index of the processor's column below.
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}

# Answered with "operation not permitted".
DENIED: dict[str, tuple[int | None, int | None]] = {
    # network, and sockets another worker could wait on
    "socket": (41, 198),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # new programs and processes
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    # other processes' memory, descriptors and identity
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "tkill": (200, 130),
    # asynchronous calls that no filter sees
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # System V and POSIX queues, semaphores and memory, which outlive a process
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmdt": (67, 197),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # files without a name, and space without writing: the scratch folder's quota sees neither
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "fallocate": (285, 47),
    # rights, namespaces and mounts
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setgroups": (116, 159),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "personality": (135, 92),
    "unshare": (272, 97),
    "setns": (308, 268),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "mount": (165, 40),
    "umount2": (166, 39),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # the kernel itself
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "lookup_dcookie": (212, 18),
    "vhangup": (153, 58),
    "nfsservctl": (180, 42),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    "_sysctl": (156, None),
}

# Allowed only with the worker's own pid as their first argument.
OWN_PROCESS_ONLY: dict[str, tuple[int | None, int | None]] = {
    "kill": (62, 129),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}

# Allowed with the worker's own pid or 0, which means the same.
OWN_PROCESS_OR_ZERO: dict[str, tuple[int | None, int | None]] = {"prlimit64": (302, 261)}

# Allowed only to make a thread.
CLONE: tuple[int, int] = (56, 220)
# Its flags lie in memory, which a filter cannot read: ENOSYS makes the C library use clone.
CLONE3: tuple[int, int] = (435, 435)
CLONE_THREAD = 0x00010000
