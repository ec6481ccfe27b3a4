"""The targets by name."""

from __future__ import annotations

from collections.abc import Callable

from faro_targets import codec, files, follow, fragments, header_block, mending, merge, message, script
from faro_targets.broken import require
from faro_targets.folder import Folder
from faro_targets.transcript import Transcript

Target = Callable[[bytes, Folder, Transcript], None]

TARGETS: dict[str, Target] = {
    "codec_lz4": codec.codec_lz4,
    "codec_zstd": codec.codec_zstd,
    "follow": follow.follow,
    "fragments": fragments.fragments,
    "header_block": header_block.header_block,
    "merge": merge.merge,
    "message": message.message,
    "open": files.open_target,
    "read_all": files.read_all,
    "repair": mending.repair,
    "script": script.script,
}


def run(name: str, raw: bytes, folder: Folder) -> Transcript:
    """One run of a target on an input."""
    transcript = Transcript()
    folder.clear()
    TARGETS[name](raw, folder, transcript)
    return transcript


def run_twice(name: str, raw: bytes, folder: Folder) -> Transcript:
    """Two runs, which must give the same transcript."""
    first = run(name, raw, folder)
    require(str(first) == str(run(name, raw, folder)), "asked twice, the same answer")
    return first
