"""The testees of a run, each with the shim and its own control."""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from faro_conformance.child import Child
from faro_conformance.protocol import Outcome, Protocol
from faro_conformance.testees import Testee
from faults.control import Control, Fault

Json = dict[str, Any]
# For a quick start: these testees live shortly.
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"

_NUMBERS = itertools.count()


class Member:
    """One testee, which answers requests while system calls fail."""

    def __init__(self, testee: Testee, protocol: Protocol, shim: Path, root: Path, timeout: float) -> None:
        self.name = testee.name
        self.testee = testee
        self.folder = root / "files"
        self.folder.mkdir(parents=True, exist_ok=True)
        control = root / f"{testee.name}-{next(_NUMBERS)}.control"
        self.control = Control(control)
        environment = {
            **testee.environment,
            "LD_PRELOAD": str(shim),
            "FARO_FAULT_CONTROL": str(control),
            "FARO_FAULT_FOLDER": str(self.folder),
            "JDK_JAVA_OPTIONS": _JAVA,
        }
        # A file that reaches RLIMIT_FSIZE raises this signal. Ignored, as in servers, the call fails with EFBIG.
        command = ("/bin/sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh", *testee.command)
        self.child = Child(replace(testee, command=command, environment=environment), protocol, timeout, root)

    def ask(self, op: str, fields: Json, fault: Fault | None = None) -> Outcome:
        """Send one request, with a fault if one is given."""
        if fault is None:
            return self.child.ask(op, fields)
        self.control.arm(fault)
        try:
            return self.child.ask(op, fields)
        finally:
            self.control.disarm()

    @property
    def pid(self) -> int | None:
        """The process id, if a process runs."""
        return self.child.pid if self.child.is_running else None

    def start(self) -> None:
        """Restart the process."""
        self.control.disarm()
        self.child.start()

    def ask_and_kill(self, op: str, fields: Json, when: Callable[[threading.Event], None]) -> tuple[Outcome, float]:
        """Send a request and kill the process when `when` returns (its event: the answer came before).

        Also returns the seconds until the process died or answered.
        """
        pid, answered = self.child.pid, threading.Event()

        def kill() -> None:
            when(answered)
            if not answered.is_set():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        begin = time.monotonic()
        killer.start()
        outcome = self.child.ask(op, fields)
        seconds = time.monotonic() - begin
        answered.set()
        killer.join()
        self.child.kill()
        return outcome, seconds


class Crew:
    """Several testees that share a folder."""

    def __init__(
        self, testees: list[Testee], protocol: Protocol, shim: Path, root: Path, timeout: float = 60.0
    ) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self.root = root
        self.folder = root / "files"
        self.members = [Member(testee, protocol, shim, root, timeout) for testee in testees]
        self._protocol, self._shim, self._timeout = protocol, shim, timeout
        self._numbers = iter(range(1 << 62))

    def __enter__(self) -> Crew:
        """Start all."""
        try:
            for member in self.members:
                member.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop all."""
        for member in self.members:
            member.child.kill()

    def __iter__(self) -> Iterator[Member]:
        """The testees."""
        return iter(self.members)

    def victim(self, member: Member) -> Member:
        """Another process of a testee in the same folder, not started."""
        return Member(member.testee, self._protocol, self._shim, self.root, self._timeout)

    def new_folder(self) -> Path:
        """A new folder."""
        folder = self.folder / str(next(self._numbers))
        folder.mkdir()
        return folder
