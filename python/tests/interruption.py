"""Errors at any step of the library, as Ctrl-C makes them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import faro_format as faro

PACKAGE = str(Path(faro.__file__).parent)


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

    def _step(self, _: FrameType, event: str, __: Any) -> Any:
        if event == "opcode":
            self.steps += 1
            if self.steps - 1 == self._at:
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
