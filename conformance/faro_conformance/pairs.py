"""Each testee's outputs, read by each testee; and whether all wrote the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol as Shape

from faro_conformance.child import Child
from faro_conformance.compare import compare_bytes, compare_outcome
from faro_conformance.execute import why_skipped, written_files
from faro_conformance.manifest import Case
from faro_conformance.protocol import Json, Outcome
from faro_conformance.results import Failure, Result, Status


class ChildSource(Shape):
    """A source of children of one testee."""

    hello: dict[str, Json]

    def child(self) -> AbstractContextManager[Child]:
        """A child for this thread alone."""


def run_pairs(case: Case, pools: Mapping[str, ChildSource], folder: Path) -> list[Result]:
    """The matrix of one write case, from the files that its runs left in `folder`/TESTEE/CASE."""
    if not case.fields["expect"].get("ok", {}).get("finished"):
        # It must leave no file, which the case itself checks.
        return []
    written = {name: written_files(case, folder / name / case.id) for name in pools}
    written = {name: files for name, files in written.items() if all(file.exists() for file in files.values())}
    results = []
    if is_canonical(case):
        # All are compared with the first one.
        results = [_bytes_result(case, name, next(iter(written)), written) for name in list(written)[1:]]
    for writer, files in written.items():
        with pools[writer].child() as child:
            own = _read(child, files) if "read" in child.hello["operations"] else None
        for reader, pool in pools.items():
            results.append(_pair_result(case, writer, reader, pool, files, own))
    return results


def is_canonical(case: Case) -> bool:
    """Whether every writer must write the same bytes for the case (CAN-1)."""
    options = case.fields.get("request", {}).get("options", {})
    # A block that the caller compressed is stored as it is, so it is canonical too.
    return options.get("codec", "none") == "none" and "file_id" in options


def _read(child: Child, files: dict[str, Path]) -> Outcome:
    return child.ask("read", {role: str(file) for role, file in files.items()})


def _pair_result(
    case: Case, writer: str, reader: str, pool: ChildSource, files: dict[str, Path], own: Outcome | None
) -> Result:
    failures: list[Failure | None] = []
    reason = why_skipped(case, {**pool.hello, "operations": [case.op, *pool.hello["operations"]]})
    if reason is None and "read" not in pool.hello["operations"]:
        reason = "no operation read"
    if reason is None:
        with pool.child() as child:
            outcome = _read(child, files)
            failures.append(compare_outcome("read", {"ok": case.fields["expect"].get("read", {})}, outcome))
            if own is not None and own.kind == "ok":
                failures.append(compare_outcome(f"read as {writer} reads it", {"ok": own.value}, outcome))
            if "check" in child.hello["operations"]:
                checked = child.ask("check", {**{role: str(file) for role, file in files.items()}, "level": "decode"})
                failures.append(compare_outcome("check decode", {"ok": {}}, checked))
            if outcome.kind == "unsupported":
                reason = str(outcome.value)
    return _result(case, "pairs", writer, reader, [failure for failure in failures if failure], reason)


def _bytes_result(case: Case, name: str, reference: str, written: dict[str, dict[str, Path]]) -> Result:
    failures = [
        compare_bytes(f"{role} file", written[reference][role].read_bytes(), file.read_bytes())
        for role, file in written[name].items()
    ]
    return _result(case, "canonical", reference, name, [failure for failure in failures if failure], None)


def _result(case: Case, matrix: str, writer: str, testee: str, failures: list[Failure], reason: str | None) -> Result:
    status: Status = "skipped" if reason is not None else "failed" if failures else "passed"
    return Result(
        case=f"{matrix}/{writer}/{case.id}",
        testee=testee,
        status=status,
        clauses=case.clauses,
        op=matrix,
        title=case.title,
        recommended=case.recommended,
        failures=() if reason is not None else tuple(failures),
        reason=reason or "",
        writer=writer,
    )
