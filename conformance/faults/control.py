"""The orders to the shim of a testee, and its counts: a mapped file with the fields of shim.c."""

from __future__ import annotations

import ctypes
import mmap
from dataclasses import dataclass
from pathlib import Path

KINDS = ("open", "read", "write", "sync", "cut", "rename", "link", "lock", "unlink", "size", "seek")
ANY = "any"
_ACTIONS = (
    "nothing", "errno", "short", "short-then-errno", "kill-before", "kill-after", "kill-short", "vanish", "shrink",
    "change",
)  # fmt: skip
_PATH = 4096
HALF = -1


class _Fields(ctypes.Structure):
    _fields_ = (
        ("armed", ctypes.c_uint32),
        ("kind", ctypes.c_uint32),
        ("action", ctypes.c_uint32),
        ("number", ctypes.c_uint32),
        ("period", ctypes.c_uint32),
        ("error", ctypes.c_int32),
        ("amount", ctypes.c_int64),
        ("keep", ctypes.c_uint32),
        ("fired", ctypes.c_uint32),
        ("counts", ctypes.c_uint32 * (len(KINDS) + 1)),
        ("fired_path", ctypes.c_char * _PATH),
        ("from_", ctypes.c_char * _PATH),
        ("to", ctypes.c_char * _PATH),
    )


@dataclass(frozen=True)
class Fault:
    """A fault: the `number`-th call of a kind fails or, with a period, that one and every period-th after it."""

    action: str = "nothing"
    kind: str = ANY
    number: int = 0
    period: int = 0
    error: int = 0
    # Bytes of a short call (HALF of them); the file's new size; the offset of the byte that changes.
    amount: int = 0
    # Nothing can be unlinked, as if the folder were read-only from then on.
    keep: bool = False
    # Folders, for `vanish`.
    move: tuple[Path, Path] | None = None

    def __str__(self) -> str:
        """Its name in reports."""
        extra = f" every {self.period}" if self.period else ""
        value = f" errno {self.error}" if self.error else ""
        amount = f" amount {self.amount}" if self.amount else ""
        return f"{self.action} at {self.kind} {self.number}{extra}{value}{amount}{' keep' if self.keep else ''}"


class Control:
    """The mapped file of one testee."""

    def __init__(self, path: Path) -> None:
        with open(path, "w+b") as file:
            file.truncate(ctypes.sizeof(_Fields))
            self._map = mmap.mmap(file.fileno(), ctypes.sizeof(_Fields))
        self._fields = _Fields.from_buffer(self._map)

    def arm(self, fault: Fault) -> None:
        """Start counting, with this fault."""
        fields = self._fields
        fields.armed = 0
        fields.kind = len(KINDS) if fault.kind == ANY else KINDS.index(fault.kind)
        fields.action = _ACTIONS.index(fault.action)
        fields.number, fields.period, fields.error = fault.number, fault.period, fault.error
        fields.amount, fields.keep, fields.fired = fault.amount, fault.keep, 0
        for at in range(len(KINDS) + 1):
            fields.counts[at] = 0
        fields.fired_path = b""
        if fault.move is not None:
            fields.from_, fields.to = (str(path).encode() for path in fault.move)
        fields.armed = 1

    def disarm(self) -> None:
        """Stop counting, without faults."""
        self._fields.armed = 0

    @property
    def fired(self) -> int:
        """How many calls failed since it was armed."""
        return int(self._fields.fired)

    @property
    def fired_path(self) -> str:
        """The file of the last call that failed."""
        return bytes(self._fields.fired_path).decode(errors="replace")

    @property
    def counts(self) -> dict[str, int]:
        """The number of calls of each kind, and of all kinds."""
        return dict(zip((*KINDS, ANY), self._fields.counts, strict=True))
