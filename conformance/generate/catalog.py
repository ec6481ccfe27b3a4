"""The list of cases, and a method for each kind of case."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import output as out
from .output import Answer, Built, Output
from .raw import LZ4, ZSTD, Block
from .specification import chapters

SUFFIX = {"data": "data", "index": "index", "single": "faro", "fragment": "fragment"}
LEVELS = ("structure", "checksums", "decode")
BY_HAND = ("README.md", "elsewhere.json")
"""The files in the folder of the cases that the generator does not make."""


def fault(code: str, file: str | None = None, offset: int | None = None) -> Answer:
    """An expected error."""
    return {"error": {"code": code, "file": file, "offset": offset}}


def features_of(output: Output) -> list[str]:
    """The features that a testee must have to take part."""
    blocks = [b for r in output.regions for extent in r.own.values() for b in extent]
    blocks += [b for r in output.regions for extent in r.shared for b in extent.blocks]
    codecs = {block.codec for block in blocks}
    found = [name for codec, name in ((LZ4, "lz4"), (ZSTD, "zstd")) if codec in codecs]
    if output.header.reader_features & 1:
        found.append("selective")
    if output.header.reader_features & 2:
        found.append("dictionaries")
    return found + (["arrow"] if output.header.framing == out.ARROW else [])


def manifest(cases: list[Answer]) -> bytes:
    """A manifest: one case a line, so that a diff shows which cases changed."""
    lines = [json.dumps(case, ensure_ascii=False) for case in cases]
    return ('{"version": 1, "cases": [\n' + ",\n".join(lines) + "\n]}\n").encode()


@dataclass
class Catalog:
    """All cases and their files."""

    cases: list[Answer] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    generated: dict[str, bytes] = field(default_factory=dict)
    _paths: dict[tuple[bool, str, str], str] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)

    def put(self, name: str, suffix: str, content: bytes, generated: bool = False) -> str:
        """The path of a file with this content: equal files are kept once."""
        digest = hashlib.sha256(content).hexdigest()
        key = (generated, suffix, digest)
        if key not in self._paths:
            path = f"{name}.{suffix}"
            store = self.generated if generated else self.files
            if path in store:
                raise ValueError(f"two files at {path}")
            store[path] = content
            self._paths[key] = path
        return self._paths[key]

    def add(
        self,
        id: str,
        clause: str,
        title: str,
        op: str,
        *,
        folder: str,
        files: Mapping[str, bytes | None] | None = None,
        expect: Answer | None = None,
        request: Answer | None = None,
        check: Answer | None = None,
        features: list[str] | None = None,
        level: str = "required",
        generated: bool = False,
        expect_files: Mapping[str, bytes | None] | None = None,
        existing: Mapping[str, bytes] | None = None,
        name: str | None = None,
        steps: list[Answer] | None = None,
        fragments: Sequence[bytes] = (),
        originals: Mapping[str, Mapping[str, bytes]] | None = None,
    ) -> None:
        """Adds a case. `clause` is a list of clauses, separated by spaces."""
        if id in self._ids:
            raise ValueError(f"two cases {id}")
        self._ids.add(id)
        place, digests = f"{folder}/{id}", dict[str, str]()

        def store(role: str, content: bytes | None, more: str = "") -> str | None:
            if content is None:
                return None
            path = self.put(place + more, SUFFIX[role], content, generated)
            digests[path] = hashlib.sha256(content).hexdigest()
            return path

        case: Answer = {"id": id, "clause": clause.split(), "level": level, "features": features or []}
        case |= {"title": title, "op": op}
        if files is not None:
            case["files"] = {role: store(role, content) for role, content in files.items()}
        if existing is not None:
            case["existing"] = {role: store(role, content, "-existing") for role, content in existing.items()}
        if name is not None:
            case["name"] = name
        if fragments:
            case["fragments"] = [store("fragment", content, f"-{n}") for n, content in enumerate(fragments)]
        if originals is not None:
            case["originals"] = {
                whose: {role: store(role, content, f"-{whose}") for role, content in files.items()}
                for whose, files in originals.items()
            }
        case["request"] = request or {}
        if expect is not None:
            case["expect"] = dict(expect)
        if expect_files is not None:
            after = {role: store(role, content, "-after") for role, content in expect_files.items()}
            case["expect"]["files"] = after
        if check is not None:
            case["check"] = check
        if steps is not None:
            case["steps"] = []
            for step in steps:
                places = {}
                for role, (content, size) in step.get("files", {}).items():
                    places[role] = {"from": store(role, content)} | ({} if size is None else {"bytes": size})
                case["steps"].append({**step, "files": places})
        case["sha256"] = dict(sorted(digests.items()))
        if generated:
            case["generated"] = True
        self.cases.append(case)

    def valid(self, id: str, clause: str, title: str, output: Output, **more: Any) -> None:
        """A file that every reader must read, and that passes `check` at every level."""
        built = more.pop("built", None) or out.build(output)
        request = more.pop("request", {})
        ok = out.read_answer(output, request.get("partitions"))
        if "range" in request:
            del ok["partitions"]
            ok["range"] = out.range_answer(output, *request["range"])
        if output.header.reader_features & 2:
            ok["dictionaries"] = out.dictionaries_answer(built)
        self.add(id, clause, title, "read", folder="valid", files=built.files, request=request, expect={"ok": ok},
                 check=self.checks(output), features=features_of(output), **more)  # fmt: skip

    def checks(self, output: Output, bad: Answer | None = None, level: str = "structure") -> Answer:
        """The answers of `check` at each level: an error from `level` on."""
        answers: Answer = {}
        for name in LEVELS:
            if bad is not None and LEVELS.index(name) >= LEVELS.index(level):
                answers[name] = bad
            else:
                blocks = None if name == "structure" else out.block_count(output)
                answers[name] = {"ok": {"regions": len(output.regions), "blocks": blocks}}
        return answers

    def refused(self, id: str, clause: str, title: str, files: Answer, bad: Answer, **more: Any) -> None:
        """A file that cannot be opened, and that `check` refuses at every level."""
        more.setdefault("request", {})
        self.add(id, clause, title, "read", folder="invalid", files=files, expect=bad,
                 check=dict.fromkeys(LEVELS, bad), **more)  # fmt: skip

    def bad_region(
        self, id: str, clause: str, title: str, built: Built, bad: Answer, files: Answer | None = None, **more: Any
    ) -> None:
        """A file with an invalid region message: opening does not read it, every partition does."""
        output = built.output
        first, count = output.header.first_partition, output.header.partition_count
        ok = out.read_answer(output, [])
        ok["partitions"] = {str(p): bad for p in range(first, first + count)}
        more.setdefault("check", dict.fromkeys(LEVELS, bad))
        self.add(id, clause, title, "read", folder="invalid", files=files or built.files, expect={"ok": ok},
                 features=features_of(output), **more)  # fmt: skip

    def bad_block(
        self, id: str, clause: str, title: str, built: Built, block: Block, bad: Answer, *,
        level: str = "checksums", files: Answer | None = None, **more: Any,
    ) -> None:  # fmt: skip
        """A file with a partition block that every reader of it refuses."""
        output = built.output
        failing = []
        for partition in out.readers(output):
            read = [b for r in output.regions for _, extent in out.extents_of(output, r, partition) for b in extent]
            if any(other is block for other in read):
                failing.append(partition)
        ok = out.read_answer(output, [p for p in out.readers(output) if p not in failing])
        ok["partitions"] |= {str(p): bad for p in failing}
        more.setdefault("check", self.checks(output, bad, level))
        more.setdefault("features", features_of(output))
        self.add(id, clause, title, "read", folder="invalid", files=files or built.files, expect={"ok": ok},
                 **more)  # fmt: skip

    def bad_check(
        self, id: str, clause: str, title: str, built: Built, bad: Answer, *, level: str = "structure",
        files: Answer | None = None, read: bool = True, **more: Any,
    ) -> None:  # fmt: skip
        """A file with a fault that reading partitions does not reach."""
        output = built.output
        ok = out.read_answer(output)
        if not read:
            ok = {"regions": ok["regions"]}
        self.add(id, clause, title, "read", folder="invalid", files=files or built.files, expect={"ok": ok},
                 check=self.checks(output, bad, level), features=features_of(output), **more)  # fmt: skip

    def manifests(self) -> dict[str, bytes]:
        """The manifests by path: a case is in the manifest of the chapter that contains its first clause."""
        chapter_of = chapters()
        found: dict[str, list[Answer]] = {}
        for case in self.cases:
            found.setdefault(chapter_of[case["clause"][0]], []).append(case)
        return {f"manifest/{chapter}.json": manifest(cases) for chapter, cases in found.items()}

    def tree(self) -> dict[str, bytes]:
        """The content of each committed file, by path."""
        return {**self.files, **self.manifests()}

    def write(self, folder: Path) -> None:
        """Writes the files that are committed, and removes those that no case uses any more."""
        wanted = self.tree()
        for path, content in wanted.items():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if not place.exists() or place.read_bytes() != content:
                place.write_bytes(content)
        for path in stale(folder, wanted):
            (folder / path).unlink()

    def differences(self, folder: Path) -> list[str]:
        """Paths that differ from what is committed."""
        wanted = self.tree()
        changed = [p for p, c in wanted.items() if not (folder / p).exists() or (folder / p).read_bytes() != c]
        return changed + stale(folder, wanted)


def stale(folder: Path, wanted: dict[str, bytes]) -> list[str]:
    """Files in the folder of the cases that the generator does not make."""
    found = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    return [path for path in found if path not in wanted and path not in BY_HAND]
