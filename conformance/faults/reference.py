"""The files of an undisturbed script, and of the same script cut off at any point, byte for byte."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.crew import Crew, Json, Member
from faults.scripts import Script, output_names
from generate.message import canonical
from generate.raw import KIND_FOOTER, KIND_REGION, KIND_SCHEMA, NOBODY, Block, file_id_of, pad8, tail

HEADER = 64
_BLOCK = 24
_TAIL = 24


class NoReferenceError(Exception):
    """The undisturbed script has a wrong result, so nothing can be judged by it."""


@dataclass(frozen=True)
class Metadata:
    """A metadata block of the index or single file."""

    kind: int
    begin: int
    end: int
    size: int


def metadata_of(raw: bytes) -> list[Metadata]:
    """The complete metadata blocks of an index or single file."""
    found, at = [], HEADER
    while at + _BLOCK <= len(raw):
        size, kind = struct.unpack_from("<I", raw, at)[0], raw[at + 16]
        end = at + _BLOCK + pad8(size)
        if end > len(raw):
            break
        if kind >= KIND_REGION:
            found.append(Metadata(kind, at, end, size))
        if kind == KIND_FOOTER:
            break
        at = end
    return found


@dataclass
class Reference:
    """The files of a script, and what partitions read after each shorter script."""

    script: Script
    writer: Member
    files: dict[str, bytes]
    # The end of each region's message, in the index or single file.
    message_ends: list[int]
    # The end of each region's blocks, in the data file; in a single file, the begin of its message.
    data_ends: list[int]
    schema_end: int
    footer: Metadata
    answers: list[Json | None] = field(default_factory=list)

    @property
    def log(self) -> bytes:
        """The index or single file."""
        return self.files[self.script.roles[-1]]

    def committed(self, size: int) -> int:
        """How many regions the first `size` bytes of an index or single file contain."""
        return sum(end <= size for end in self.message_ends)

    def repaired(self, sizes: dict[str, int]) -> dict[str, bytes]:
        """The expected result of `repair` on the files cut to these sizes (REP-3, REP-4)."""
        size = sizes[self.script.roles[-1]]
        if size >= self.footer.end:
            return self.files
        count = self.committed(size)
        kept = self.message_ends[count - 1] if count else self.schema_end
        data_end = self.data_ends[count - 1] if count else HEADER
        begins = [entry.begin for entry in metadata_of(self.log) if entry.kind == KIND_REGION]
        ends = [HEADER, *self.data_ends] if self.script.paired else [self.schema_end, *self.message_ends]
        rows = [(begins[at], self._size(begins[at]), 0, ends[at], self.data_ends[at] - ends[at]) for at in range(count)]
        fields: dict[str, Any] = {
            "data_size": data_end if self.script.paired else kept,
            "properties": [{"key": "faro.repair", "value": "last-commit"}],
        }
        if rows:
            fields["regions"] = rows
        message = canonical("Footer", fields)
        sequence = count + (self.schema_end > HEADER)
        footer = Block(message, kind=KIND_FOOTER).encode(NOBODY, sequence, file_id_of(self.log))
        log = self.log[:kept] + footer + tail(kept, len(message))
        if not self.script.paired:
            return {"single": log}
        return {"data": self.files["data"][:data_end], "index": log}

    def _size(self, at: int) -> int:
        return int(struct.unpack_from("<I", self.log, at)[0])


def written(member: Member, folder: Path, script: Script, regions: int | None = None) -> dict[str, bytes]:
    """The files that an undisturbed writer makes with this many steps."""
    options = {**script.options, "overwrite": True}
    outcome = member.ask("write", {"path": str(folder / "out"), "options": options, "calls": script.calls(regions)})
    if outcome.kind != "ok" or outcome.value != {"errors": [], "finished": True}:
        raise NoReferenceError(f"{member.name}: {script.name}: {outcome.detail}")
    return {role: Path(name).read_bytes() for role, name in output_names(str(folder), script).items()}


def make_reference(member: Member, crew: Crew, script: Script) -> Reference:
    """The reference of a script. Its writer is `member`; if it is canonical, all writers must agree."""
    folder = crew.new_folder()
    files = written(member, folder, script)
    if script.canonical:
        for other in crew:
            if written(other, folder, script) != files:
                raise NoReferenceError(f"{script.name}: {other.name} and {member.name} write different files")
    entries = metadata_of(files[script.roles[-1]])
    regions = [entry for entry in entries if entry.kind == KIND_REGION]
    schemas = [entry for entry in entries if entry.kind == KIND_SCHEMA]
    if len(regions) != len(script.steps) or entries[-1].kind != KIND_FOOTER:
        raise NoReferenceError(f"{script.name}: {len(regions)} regions of {len(script.steps)} steps")
    data_ends = [entry.begin for entry in regions]
    if script.paired:
        data_ends = [_data_end(files["index"][entry.begin + _BLOCK : entry.end]) for entry in regions]
    return Reference(
        script,
        member,
        files,
        [entry.end for entry in regions],
        data_ends,
        schemas[0].end if schemas else HEADER,
        entries[-1],
        [None] * (len(regions) + 1),
    )


def _data_end(message: bytes) -> int:
    """data_offset + data_length of a region message: its second and third field."""
    (root,) = struct.unpack_from("<I", message)
    (back,) = struct.unpack_from("<i", message, root)
    values: list[int] = []
    for slot in (1, 2):
        (at,) = struct.unpack_from("<H", message, root - back + 4 + 2 * slot)
        values += struct.unpack_from("<Q", message, root + at)
    return int(sum(values))


def content(outcome_value: Json) -> Json:
    """The part of a `read` answer that depends on the regions alone."""
    return {name: outcome_value[name] for name in ("header", "regions", "partitions")}


def expected(reference: Reference, crew: Crew, count: int) -> Json:
    """The answer of `read` for the first `count` regions: that of a script that ends there, by all testees."""
    known = reference.answers[count]
    if known is not None:
        return known
    folder, script = crew.new_folder(), reference.script
    # With a codec another writer would store other sizes.
    files = written(reference.writer, folder, script, count)
    log, last = files[script.roles[-1]], reference.message_ends[count - 1] if count else reference.schema_end
    if log[:last] != reference.log[:last]:
        raise NoReferenceError(f"{script.name}: its first {count} regions differ from a script that ends there")
    if (
        script.paired
        and files["data"] != reference.files["data"][: reference.data_ends[count - 1] if count else HEADER]
    ):
        raise NoReferenceError(f"{script.name}: the data of its first {count} regions differ")
    for member in crew:
        outcome = member.ask("read", output_names(str(folder), script))
        if outcome.kind != "ok" or (known is not None and content(outcome.value) != known):
            raise NoReferenceError(f"{script.name}, {count} regions: {member.name}: {outcome.detail}")
        known = content(outcome.value)
    assert known is not None
    reference.answers[count] = known
    return known
