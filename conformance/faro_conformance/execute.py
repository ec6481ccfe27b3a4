"""Runs one case with one testee, operation by operation, as cases/README.md describes."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from faro_conformance.child import Child
from faro_conformance.compare import compare_files, compare_outcome
from faro_conformance.manifest import Case
from faro_conformance.protocol import Json, Outcome
from faro_conformance.results import Failure, Result

LEVELS = ("structure", "checksums", "decode")
NAME = "output"


class UnsupportedError(Exception):
    """The testee answered `unsupported`."""


@dataclass
class Execution:
    """One case under way."""

    case: Case
    child: Child
    folder: Path
    failures: list[Failure] = field(default_factory=list)

    def ask(self, op: str, fields: dict[str, Json]) -> Outcome:
        """Ask the testee; `unsupported` ends the case."""
        outcome = self.child.ask(op, fields)
        if outcome.kind == "unsupported":
            raise UnsupportedError(f"{op}: {outcome.value}")
        return outcome

    def add(self, failure: Failure | None) -> None:
        """Record a failure, if there is one."""
        if failure is not None:
            self.failures.append(failure)

    def check_levels(self, files: dict[str, str]) -> None:
        """Ask `check` at the levels that the case names."""
        expected = self.case.fields.get("check", {})
        if "check" not in self.child.hello["operations"]:
            return
        limits = {name: value for name, value in self.request.items() if name == "limits"}
        for level in LEVELS:
            if level in expected:
                outcome = self.ask("check", {**files, "level": level, **limits})
                self.add(compare_outcome(f"check {level}", expected[level], outcome))

    @property
    def request(self) -> dict[str, Json]:
        """The fields of the request beside op and files."""
        request: dict[str, Json] = self.case.fields.get("request", {})
        return request


def run_case(case: Case, child: Child, folder: Path) -> Result:
    """Run the case in `folder`, which no other case uses. The files of a `write` case stay there."""
    begin = time.monotonic()

    def result(status: str, failures: list[Failure], reason: str = "") -> Result:
        return Result(
            case=case.id,
            testee=child.testee.name,
            status="skipped" if status == "skipped" else "failed" if failures else "passed",
            clauses=case.clauses,
            op=case.op,
            title=case.title,
            recommended=case.recommended,
            failures=tuple(failures),
            reason=reason,
            seconds=time.monotonic() - begin,
        )

    reason = why_skipped(case, child.hello)
    if reason is not None:
        return result("skipped", [], reason)
    folder.mkdir(parents=True, exist_ok=True)
    execution = Execution(case, child, folder)
    try:
        _RUN[case.op](execution)
    except UnsupportedError as error:
        if not execution.failures:
            return result("skipped", [], str(error))
    return result("", execution.failures)


def why_skipped(case: Case, hello: dict[str, Json]) -> str | None:
    """Why the testee cannot run the case, according to its `hello`."""
    if case.op not in hello["operations"]:
        return f"no operation {case.op}"
    missing = [feature for feature in case.features if feature not in hello["features"]]
    return f"no feature {', '.join(missing)}" if missing else None


def _read(execution: Execution) -> None:
    case = execution.case
    files = {role: str(path) for role, path in case.files().items()}
    outcome = execution.ask("read", {**files, **execution.request})
    execution.add(compare_outcome("read", case.fields["expect"], outcome))
    execution.check_levels(files)


def _check(execution: Execution) -> None:
    case = execution.case
    files = {role: str(path) for role, path in case.files().items()}
    fields = {"level": "decode", **execution.request}
    outcome = execution.ask("check", {**files, **fields})
    execution.add(compare_outcome(f"check {fields['level']}", case.fields["expect"], outcome))


def written_files(case: Case, folder: Path) -> dict[str, Path]:
    """The paths of the output of a `write` case, by role."""
    options = case.fields.get("request", {}).get("options", {})
    # With single_below the content decides (WRT-13).
    is_single = options.get("layout") == "single" or "single" in case.fields.get("expect", {}).get("files", {})
    return {role: _place(role, folder) for role in (["single"] if is_single else ["data", "index"])}


def _place(role: str, folder: Path) -> Path:
    """The path of a file of the output, or of a fragment, by role."""
    return folder / (f"{NAME}.faro" if role == "single" else f"{NAME}.{role}")


def _put_existing(execution: Execution) -> None:
    """Put the files of the case that exist before it under their names."""
    for role, name in execution.case.fields.get("existing", {}).items():
        source = execution.case.path(name)
        if source is not None:
            shutil.copyfile(source, _place(role, execution.folder))


def _only(execution: Execution, allowed: set[str]) -> None:
    """Fail for each file in the folder that is not allowed."""
    for left in sorted(set(os.listdir(execution.folder)) - allowed):
        execution.add(Failure("folder", "nothing else", "a file is left", left))


def _write(execution: Execution) -> None:
    case = execution.case
    expect = case.fields["expect"]
    files = written_files(case, execution.folder)
    _put_existing(execution)
    # Not joined by pathlib, which drops separators at the end.
    path = f"{execution.folder}{os.sep}{case.fields.get('name', NAME)}"
    outcome = execution.ask("write", {"path": path, "options": {}, "calls": [], **execution.request})
    answer = {name: expect[name] for name in ("ok", "error") if name in expect}
    if answer:
        execution.add(compare_outcome("write", answer, outcome))
    wanted = {role: case.path(name) for role, name in expect.get("files", {}).items()}
    finished = outcome.kind == "ok" and outcome.value["finished"]
    if finished or "existing" in case.fields:
        for role, expected in wanted.items():
            execution.add(compare_files(f"{role} file", expected, _place(role, execution.folder)))
    allowed = {_place(role, execution.folder).name for role in case.fields.get("existing", {})}
    if finished:
        allowed = {file.name for file in files.values()}
    _only(execution, allowed)
    if "read" in expect and finished and "read" in execution.child.hello["operations"]:
        description = execution.ask("read", {role: str(file) for role, file in files.items()})
        execution.add(compare_outcome("read", {"ok": expect["read"]}, description))


def _repair(execution: Execution) -> None:
    case = execution.case
    copies: dict[str, Path] = {}
    for role, source in case.files().items():
        copies[role] = _place(role, execution.folder)
        if source.exists():
            shutil.copyfile(source, copies[role])
    files = {role: str(path) for role, path in copies.items()}
    outcome = execution.ask("repair", {**files, **execution.request})
    expect = case.fields["expect"]
    execution.add(compare_outcome("repair", {k: expect[k] for k in ("ok", "error") if k in expect}, outcome))
    for role, name in expect.get("files", {}).items():
        execution.add(compare_files(f"{role} file", case.path(name), copies[role]))
    _only(execution, {path.name for path in copies.values()})
    execution.check_levels(files)


def _follow(execution: Execution) -> None:
    case = execution.case
    paths: dict[str, str] = {}
    opened = False
    try:
        for number, step in enumerate(case.fields["steps"]):
            for role, part in step.get("files", {}).items():
                place = _place(role, execution.folder)
                paths[role] = str(place)
                source = case.path(part["from"])
                assert source is not None
                data = source.read_bytes()
                _put(place, data[: part.get("bytes", len(data))])
            action = step.get("action")
            if action is None:
                continue
            fields = {
                "action": action,
                "handle": case.id,
                **(paths if action == "open" else {}),
                **step.get("request", {}),
            }
            outcome = execution.ask("follow", fields)
            opened = action != "close" and (opened or (action == "open" and outcome.kind == "ok"))
            failure = compare_outcome(f"step {number} {action}", step["expect"], outcome) if "expect" in step else None
            execution.add(failure)
            if outcome.kind in ("crash", "timeout", "garbage"):
                # The process that held the handle ended.
                opened = False
                return
    finally:
        if opened:
            execution.child.ask("follow", {"action": "close", "handle": case.id})


def _made(execution: Execution, op: str, fields: dict[str, Json]) -> None:
    """Ask an operation that makes or changes files, and compare its answer and what is in the folder afterwards."""
    case, expect = execution.case, execution.case.fields["expect"]
    outcome = execution.ask(op, {**fields, **execution.request})
    execution.add(compare_outcome(op, {name: expect[name] for name in ("ok", "error") if name in expect}, outcome))
    for role, name in expect.get("files", {}).items():
        execution.add(compare_files(f"{role} file", case.path(name), _place(role, execution.folder)))
    files = {role for role, name in expect.get("files", {}).items() if name is not None}
    _only(execution, {_place(role, execution.folder).name for role in files})


def _merge(execution: Execution) -> None:
    case = execution.case
    _put_existing(execution)
    fragments = [str(case.path(name)) for name in case.fields.get("fragments", [])]
    _made(execution, "merge", {"path": str(execution.folder / NAME), "fragments": fragments})
    files = {role: str(_place(role, execution.folder)) for role in case.fields["expect"].get("files", {})}
    execution.check_levels(files)


def _hybrid(execution: Execution) -> None:
    _put_existing(execution)
    _made(execution, "hybrid", {"path": str(execution.folder / NAME)})


def _fragment(execution: Execution) -> None:
    files = {role: str(path) for role, path in execution.case.files().items()}
    _made(execution, execution.case.op, {**files, "path": str(_place("fragment", execution.folder))})


def _answered(op: str) -> Callable[[Execution], None]:
    """An operation that only answers."""

    def run(execution: Execution) -> None:
        case = execution.case
        fields: dict[str, Json] = {role: str(path) for role, path in case.files().items()}
        if "originals" in case.fields:
            fields["originals"] = {
                whose: {role: str(case.path(name)) for role, name in files.items()}
                for whose, files in case.fields["originals"].items()
            }
        execution.add(compare_outcome(op, case.fields["expect"], execution.ask(op, {**fields, **execution.request})))

    return run


def _put(path: Path, data: bytes) -> None:
    """Set the content of the file in place, so that a process that has it open sees it grow."""
    with open(path, "r+b" if path.exists() else "x+b", buffering=0) as file:
        have = file.read()
        if data[: len(have)] == have:
            file.write(data[len(have) :])
        else:
            file.seek(0)
            file.write(data)
            file.truncate(len(data))


_RUN: dict[str, Callable[[Execution], None]] = {
    "read": _read,
    "check": _check,
    "write": _write,
    "repair": _repair,
    "follow": _follow,
    "hybrid": _hybrid,
    "fragment": _fragment,
    "region_fragments": _fragment,
    "merge": _merge,
    **{op: _answered(op) for op in ("fragments", "provenance", "read_merged", "file_id", "plan_pushes")},
}
