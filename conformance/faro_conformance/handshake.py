"""The protocol itself: requirements on every testee, whatever it implements."""

from __future__ import annotations

import time
from pathlib import Path

from faro_conformance.child import CannotStartError, Child
from faro_conformance.protocol import Protocol
from faro_conformance.results import Failure, Result, Status
from faro_conformance.testees import Testee

UNKNOWN_OPERATION = "protocol-unknown-operation"
STOP = "protocol-stop"
END_OF_INPUT = "protocol-end-of-input"
IDS = (UNKNOWN_OPERATION, STOP, END_OF_INPUT)


def check_handshake(testee: Testee, protocol: Protocol, timeout: float, folder: Path) -> list[Result]:
    """The results. `hello` is not checked here: a testee that does not answer it cannot be started."""
    results: list[Result] = []

    def note(case: str, title: str, begin: float, failure: Failure | None) -> None:
        failures = () if failure is None else (failure,)
        status: Status = "failed" if failures else "passed"
        seconds = time.monotonic() - begin
        results.append(
            Result(case, testee.name, status, op="protocol", title=title, failures=failures, seconds=seconds)
        )

    child = Child(testee, protocol, timeout, folder)
    try:
        begin = time.monotonic()
        child.start()
        number = child.next_id()
        line = b'{"id":%d,"op":"no-such-operation"}\n' % number
        # `check` has the simplest answers; the schema of every op includes `unsupported`.
        outcome = child.ask_lines([line], [number], ["answer_check"])[0]
        failure = None
        if outcome.kind != "unsupported":
            failure = Failure("unknown op", "unsupported", str(outcome), outcome.detail)
        note(UNKNOWN_OPERATION, "An unknown op is answered with unsupported", begin, failure)

        begin = time.monotonic()
        if child.restarts:
            child.start()
        fault = child.stop()
        failure = None if fault is None else Failure("stop", "ok and exit status 0", fault)
        note(STOP, "stop is answered, then the process ends with status 0", begin, failure)

        begin = time.monotonic()
        child.start()
        fault = child.end_input()
        failure = None if fault is None else Failure("end of input", "exit status 0", fault)
        note(END_OF_INPUT, "The end of the input means stop", begin, failure)
    except CannotStartError as error:
        note(STOP, "The testee can be started again", time.monotonic(), Failure("start", "ok", "crash", str(error)))
    finally:
        child.kill()
    return results
