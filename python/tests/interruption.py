"""Errors at any step of the library, as Ctrl-C makes them."""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any

import faro_format as faro

PACKAGE = str(Path(faro.__file__).parent)


@functools.cache
def leaving(code: CodeType) -> frozenset[int]:
    """The bytecodes between the body of a ``with`` and the call that leaves it: nothing fails there, no signal comes.

    Since Python 3.11 they load None three times for the call. An error before one of them would leave a lock locked.
    """
    found = list(dis.get_instructions(code))
    offsets: set[int] = set()
    for number in range(len(found)):
        loads = [step.opname == "LOAD_CONST" and step.argval is None for step in found[max(number - 2, 0) : number + 1]]
        if loads == [True] * 3:
            begin = number - 3 if found[number - 3].opname in ("NOP", "SWAP") else number - 2
            end = next((at for at in range(number, len(found)) if found[at].opname == "CALL"), number)
            offsets.update(step.offset for step in found[begin : end + 1])
    return frozenset(offsets)


class Interruption:
    """Raises an error before one bytecode of the library, counted from 0; counts them until then."""

    def __init__(self, at: int = -1, cause: Callable[[], BaseException] = KeyboardInterrupt) -> None:
        self.steps = 0
        self.raised = False
        self._at = at
        # Not an error itself, whose traceback would keep alive what was interrupted.
        self._cause = cause

    def _enter(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE) or "generated" in frame.f_code.co_filename:
            return None
        caller: FrameType | None = frame
        while caller is not None:
            if caller.f_code.co_name in ("_drop", "__del__"):
                # Python itself swallows what is raised there.
                return None
            caller = caller.f_back
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._step

    def _step(self, frame: FrameType, event: str, _: Any) -> Any:
        if event == "opcode":
            self.steps += 1
            if 0 <= self._at < self.steps and frame.f_lasti not in leaving(frame.f_code):
                # Python traces no more after that: there is one interruption.
                self.raised = True
                raise self._cause()
        return self._step

    def __enter__(self) -> Interruption:
        sys.settrace(self._enter)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.settrace(None)
