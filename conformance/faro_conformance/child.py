"""A testee's process: start it, send requests, limit their time, and restart it after it died.

One thread serves a child: both pipes are non-blocking, so that many requests can be under way. With blocking pipes,
a testee that answers while we still write would block us, and we would block it. Each request has its own deadline,
counted from the answer before it.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from faro_conformance.protocol import Json, Outcome, Protocol, answer_key
from faro_conformance.testees import Testee

# A JVM on a busy machine takes seconds to start.
START_TIMEOUT = 60.0
STOP_TIMEOUT = 10.0
# No valid answer is nearly as long. A testee that never ends its line must not fill our memory.
LONGEST_LINE = 64 << 20
_LOG_SHOWN = 600


class CannotStartError(Exception):
    """The command does not start, or does not answer `hello`."""


class Child:
    """A testee's process, which answers requests."""

    def __init__(self, testee: Testee, protocol: Protocol, timeout: float, folder: Path) -> None:
        self.testee = testee
        self.hello: dict[str, Json] = {}
        self.restarts = 0
        self._protocol = protocol
        self._timeout = timeout
        self._folder = folder
        self._ids = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._read = b""

    def start(self) -> None:
        """Start the process and exchange `hello` with it."""
        self.kill()
        self._log = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (lives as long as the process)
        command = list(self.testee.command)
        if self.testee.memory_limit is not None:
            # A shell sets it: running code between fork and exec is not safe in a process with threads.
            limit = str(self.testee.memory_limit // 1024)
            command = ["/bin/sh", "-c", 'ulimit -v "$0" && exec "$@"', limit, *command]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                bufsize=0,
                env={**os.environ, **self.testee.environment},
                start_new_session=True,
            )
        except OSError as error:
            self.kill()
            hint = f" (made by: {self.testee.build})" if self.testee.build else ""
            raise CannotStartError(f"{self.testee.name}: {error}{hint}") from error
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
        self._read = b""
        line = b'{"id":0,"op":"hello","protocol":1}\n'
        answers = self._exchange([line], START_TIMEOUT)
        outcome = self._protocol.parse(answers[0], 0, "answer_hello") if isinstance(answers[0], bytes) else answers[0]
        if outcome.kind != "ok":
            self.kill()
            hint = f" (made by: {self.testee.build})" if self.testee.build else ""
            raise CannotStartError(f"{self.testee.name}: hello: {outcome.detail}{hint}")
        self.hello = outcome.value

    def ask(self, op: str, fields: dict[str, Json], timeout: float | None = None) -> Outcome:
        """Send one request."""
        return self.ask_all([(op, fields)], timeout)[0]

    def ask_all(self, requests: Sequence[tuple[str, dict[str, Json]]], timeout: float | None = None) -> list[Outcome]:
        """Send several requests at once. If one kills the process, the others are not affected."""
        numbers = [next(self._ids) for _ in requests]
        lines = [
            json.dumps({"id": number, "op": op, **fields}).encode() + b"\n"
            for number, (op, fields) in zip(numbers, requests, strict=True)
        ]
        keys = [answer_key(op, fields.get("action")) for op, fields in requests]
        return self.ask_lines(lines, numbers, keys, timeout)

    def ask_lines(
        self, lines: Sequence[bytes], numbers: Sequence[int], keys: Sequence[str], timeout: float | None = None
    ) -> list[Outcome]:
        """As `ask_all`, for requests that are encoded already."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(lines):
            begin = len(outcomes)
            if self._process is None:
                try:
                    self.start()
                except CannotStartError as error:
                    return outcomes + [Outcome("crash", str(error))] * (len(lines) - begin)
                self.restarts += 1
            answers = self._exchange(lines[begin:], timeout or self._timeout)
            for index, answer in enumerate(answers, begin):
                if not isinstance(answer, bytes):
                    outcomes.append(answer)
                    self.kill()
                    break
                outcome = self._protocol.parse(answer, numbers[index], keys[index])
                outcomes.append(outcome)
                if outcome.kind == "garbage":
                    # From here on it is unknown which answer belongs to which request.
                    self.kill()
                    break
        return outcomes

    @property
    def is_running(self) -> bool:
        """Whether a process was started, and not ended here."""
        return self._process is not None

    @property
    def pid(self) -> int:
        """The process id."""
        if self._process is None:
            raise ValueError("no process runs")
        return self._process.pid

    def next_id(self) -> int:
        """A number for a request."""
        return next(self._ids)

    def stop(self) -> str | None:
        """Ask the process to stop. Returns what went wrong, or None."""
        if self._process is None:
            return None
        outcome = self.ask("stop", {})
        if outcome.kind != "ok":
            self.kill()
            return f"stop: {outcome.detail}"
        return self._wait("after stop")

    def end_input(self) -> str | None:
        """Close the process's input, which also means stop."""
        if self._process is None:
            return None
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._wait("after the end of its input")

    def _wait(self, when: str) -> str | None:
        assert self._process is not None
        try:
            status = self._process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"still running {STOP_TIMEOUT:.0f} s {when}"
        self.kill()
        return None if status == 0 else f"{_status_text(status)} {when}"

    def kill(self) -> None:
        """End the process and what it started, if it runs."""
        process, self._process = self._process, None
        if process is not None:
            # The process is not reaped yet, so the id of its group is still valid.
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(OSError):
                        pipe.close()
        if self._log is not None:
            self._log.close()
            self._log = None

    def _exchange(self, lines: Sequence[bytes], timeout: float) -> list[bytes | Outcome]:
        """Send the lines and receive a line for each. Ends early after a crash or time-out, its last outcome."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        unsent = memoryview(b"".join(lines))
        answers: list[bytes | Outcome] = []
        deadline = time.monotonic() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stdin, selectors.EVENT_WRITE)
            while len(answers) < len(lines):
                left = deadline - time.monotonic()
                if left <= 0:
                    answers.append(Outcome("timeout", f"no answer within {timeout:g} s{self._log_text()}"))
                    break
                for key, _ in selector.select(left):
                    if key.fileobj is process.stdin:
                        unsent = self._send(process.stdin, unsent)
                        if not unsent:
                            selector.unregister(process.stdin)
                        continue
                    chunk = os.read(process.stdout.fileno(), 1 << 20)
                    if not chunk:
                        answers.append(self._death(process))
                        return answers
                    *whole, self._read = (self._read + chunk).split(b"\n")
                    answers += whole
                    if whole:
                        deadline = time.monotonic() + timeout
                    if len(self._read) > LONGEST_LINE:
                        answers.append(Outcome("garbage", f"a line of more than {LONGEST_LINE} bytes"))
                        return answers
        if len(answers) > len(lines):
            # More lines than requests. Which answer was doubled is unknown; the last request gets the blame.
            answers[len(lines) - 1] = Outcome("garbage", "more lines than requests")
            del answers[len(lines) :]
        return answers

    @staticmethod
    def _send(pipe: IO[bytes], unsent: memoryview) -> memoryview:
        try:
            return unsent[os.write(pipe.fileno(), unsent[:65536]) :]
        except BlockingIOError:
            return unsent
        except OSError:
            # It no longer reads. If it died, its output ends; if not, the deadline passes.
            return unsent[len(unsent) :]

    def _death(self, process: subprocess.Popen[bytes]) -> Outcome:
        try:
            status = _status_text(process.wait(2))
        except subprocess.TimeoutExpired:
            status = "closed its output"
        return Outcome("crash", status + self._log_text())

    def _log_text(self) -> str:
        if self._log is None:
            return ""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - _LOG_SHOWN))
        text = self._log.read().decode("utf-8", "backslashreplace").strip()
        return f"; standard error ends: {text}" if text else ""


def _status_text(status: int) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"died of {signal.Signals(-status).name}"
    return f"exit status {status}"
