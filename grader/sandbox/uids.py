"""A uid for each worker that no other worker on this machine has, whichever run started it.

Workers that shared a uid could signal each other and read each other's files; and where seccomp
does not stand, everything that runs under a worker's uid is killed when the worker ends.
"""

from __future__ import annotations

import os
import socket
import stat
from contextlib import suppress
from dataclasses import dataclass

from grader.errors import WorkerStartError
from grader.sandbox.policy import FIRST_UID, UID_COUNT


@dataclass(frozen=True)
class UidClaim:
    """A uid, held until it is released or its holder ends.

    The claim is a name in the kernel's table of abstract sockets: unique on the machine, and
    gone with the process that holds it, however that ends.
    """

    uid: int
    holder: socket.socket

    def release(self) -> None:
        """Leave the uid to others."""
        self.holder.close()


def claim(uid: int) -> UidClaim | None:
    """Claim a uid; `None` if somebody holds it."""
    holder = socket.socket(socket.AF_UNIX)
    try:
        holder.bind(f"\0grade-worker-uid-{uid}")
    except OSError:
        holder.close()
        return None
    return UidClaim(uid, holder)


def let_in(enclosure: str, uid: int | None) -> None:
    """Open the folder around a submission to one worker: to its group, which nobody else is in.

    Raises:
        OSError: if somebody has removed it.
    """
    if enclosure and uid is not None:
        os.chown(enclosure, -1, uid)
        os.chmod(enclosure, stat.S_IRWXU | stat.S_IXGRP)  # noqa: PTH101, S103


def shut_out(enclosure: str, uid: int | None) -> None:
    """Close it again, before another worker may get that uid."""
    if enclosure and uid is not None:
        with suppress(OSError):  # it is removed with its submission
            os.chmod(enclosure, stat.S_IRWXU)  # noqa: PTH101


def claim_uid() -> UidClaim:
    """Claim the first uid that nobody holds.

    Raises:
        WorkerStartError: if all are taken.
    """
    claims = map(claim, range(FIRST_UID, FIRST_UID + UID_COUNT))
    found = next(filter(None, claims), None)
    if found is None:
        raise WorkerStartError(f"all {UID_COUNT} uids for workers are taken")
    return found
