"""The target `follow`: a follower of files that grow."""

from __future__ import annotations

import faro_format as faro
from faro_format import FaroError, Follower, Reader

from faro_targets.broken import require
from faro_targets.content import Content, partitions, read_partition
from faro_targets.folder import Folder
from faro_targets.inputs import FilesInput, judged, same_error
from faro_targets.transcript import Transcript

_STEPS = 5


class _Following:
    """A follower, and what it has shown so far."""

    def __init__(self, given: FilesInput, folder: Folder, transcript: Transcript) -> None:
        self.given = given
        self.paths = given.paths(folder)
        self.transcript = transcript
        self.follower: Follower | None = None
        self.seen: dict[int, Content] = {}
        self.regions = 0
        self.finished = False
        self.over = False
        """Whether it was finished before the last step; then it does not read the files again (FOL-5)."""
        self.failure: FaroError | None = None

    def step(self, step: int) -> None:
        self.failure = None
        if self.follower is None:
            try:
                self.follower = Follower(**self.paths, limits=self.given.limits, verify=self.given.verify)
            except FaroError as error:
                self.failure = judged(error)
                self.transcript.line("open", step, error)
                return
        self.over = self.finished
        try:
            self.finished = self.follower.poll()
            self.transcript.line("poll", step, self.follower.region_count, int(self.finished))
        except FaroError as error:
            self.failure = judged(error)
            self.transcript.line("poll", step, self.follower.region_count, error)
        count = self.follower.region_count
        require(count >= self.regions, "regions never disappear")
        require(not self.over or (self.finished and count == self.regions), "nothing comes after the end")
        self.regions = count
        self._read(self.follower)

    def _read(self, follower: Follower) -> None:
        for partition in partitions(follower.header):
            content = read_partition(follower, partition, self.given.limits.max_plain_size)
            content.line(self.transcript, "partition", partition)
            before = self.seen.get(partition)
            if before is not None and before.error is None:
                require(content.blocks[: len(before.blocks)] == before.blocks, "what was read stays")
            self.seen[partition] = content

    def reads_as(self, other: dict[int, Content]) -> bool:
        """Check that the last reading of each partition equals another one."""
        return self.seen.keys() == other.keys() and all(self.seen[at].same(other[at]) for at in other)

    def close(self) -> None:
        if self.follower is not None:
            self.follower.close()


def follow(raw: bytes, folder: Folder, transcript: Transcript) -> None:
    """A follower of files that grow in five steps."""
    given = FilesInput.of(raw)
    first, second = given.names
    folder.write(first, b"")
    folder.write(second, b"")
    following = _Following(given, folder, transcript)
    try:
        for step in range(1, _STEPS + 1):
            if step == _STEPS:
                folder.grow(first, given.first, len(given.first))
                folder.grow(second, given.second, len(given.second))
            elif step % 2:
                folder.grow(first, given.first, given.growth[step - 1])
            else:
                folder.grow(second, given.second, given.growth[step - 1])
            following.step(step)
        _late(following, given, folder)
        _whole(following, given)
    finally:
        following.close()


def _late(following: _Following, given: FilesInput, folder: Folder) -> None:
    """At the end, it answers the same as a follower that sees the complete files at once."""
    if following.over:
        return
    late = _Following(given, folder, Transcript())
    try:
        late.step(_STEPS)
        same = (late.regions, late.finished) == (following.regions, following.finished)
        require(same and same_error(late.failure, following.failure), "early or late, a follower says the same")
        require(following.reads_as(late.seen), "early or late, a follower reads the same")
    finally:
        late.close()


def _whole(following: _Following, given: FilesInput) -> None:
    """If the files are valid, it reads the same as a reader."""
    try:
        faro.check(**following.paths, level="checksums", limits=given.limits)
    except FaroError as error:
        judged(error)
        return
    with Reader(**following.paths, limits=given.limits, verify=given.verify) as reader:
        whole = following.failure is None and following.finished and following.regions == reader.region_count
        require(whole, "a sound file is seen whole")
        most = given.limits.max_plain_size
        read = {partition: read_partition(reader, partition, most) for partition in partitions(reader.header)}
        require(following.reads_as(read), "follower and reader read the same")
