"""Keeps head and tail of what a worker prints, however much that is."""

from __future__ import annotations


class KeptOutput:
    """At most `limit` bytes of a stream: its first half and its last half.

    Args:
        limit: bytes to keep.
    """

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, part: bytes) -> None:
        """Take the next piece of the stream."""
        space = self._half - len(self._head)
        self._head += part[:space]
        self._tail += part[space:]
        excess = len(self._tail) - self._half
        if excess > 0:
            self._dropped += excess
            del self._tail[:excess]

    def text(self) -> str:
        """What was kept, with a line that says how much was dropped in between."""
        head = self._head.decode("utf-8", "replace")
        tail = self._tail.decode("utf-8", "replace")
        if self._dropped:
            return f"{head}\n[... {self._dropped} bytes left out ...]\n{tail}"
        return head + tail
