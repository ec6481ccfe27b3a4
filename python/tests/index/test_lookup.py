"""Direct lookup of one partition (LKP): the same blocks, few bytes of the index, and damage that is found."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support import FILE_ID, Call, write

from faro_format import ErrorCode, FaroError, WriterOptions
from faro_format._storage.input_file import InputFile


def script(seed: int, count: int) -> list[Call]:
    draw = random.Random(seed)
    calls = []
    for number in range(400):
        name = draw.choices(["write", "broadcast", "multicast", "flush"], [40, 2, 2, 4])[0]
        partitions = draw.sample(range(3, 3 + count), 1 if name == "write" else 3)
        calls.append(Call(name, partitions, bytes([number % 251]) * draw.choice([0, 3, 40, 400])))
    return calls


def made(folder: Path, seed: int, count: int = 40, **more: Any) -> Any:
    options: dict[str, Any] = {"block_size": 300, "buffer_size": 6_000, "file_id": FILE_ID, "first_partition": 3} | more
    return write(folder, WriterOptions(count, **options), script(seed, count))


@pytest.mark.parametrize(
    "more",
    [{}, {"layout": "single"}, {"rotation": 5}, {"ordered": False}, {"buffer_size": 400}, {"statistics": False}],
)
def test_the_blocks_are_the_same(tmp_path: Path, more: dict[str, Any]) -> None:
    output = made(tmp_path, 1, **more)
    with output.reader() as full, output.reader(lookup="direct") as direct:
        for partition in full.partitions:
            assert list(direct.partition(partition)) == list(full.partition(partition))
            assert list(direct.partition(partition, from_region=2)) == list(full.partition(partition, from_region=2))
            assert direct.stored_bytes(partition) == full.stored_bytes(partition)
            assert [list(r) for r in direct.records(partition)] == [list(r) for r in full.records(partition)]
        # Ranges are read as always.
        assert list(direct.range(5, 9)) == list(full.range(5, 9))
        for partition in (2, 43):
            with pytest.raises(FaroError, match="invalid-argument"):
                direct.partition(partition)


@pytest.mark.parametrize("count", [1_000, 30_000])
def test_few_bytes_of_the_index_are_read(tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(1)
    # A dense region, which names all partitions, and sparse ones.
    calls = [Call("write", [partition], b"x") for partition in range(count)] + [Call("flush")]
    for _ in range(5):
        calls += [Call("write", [draw.randrange(count)], b"y") for _ in range(count // 10)] + [Call("flush")]
    output = write(tmp_path, WriterOptions(count, file_id=FILE_ID, statistics=False), calls)
    read: list[int] = []
    exactly = InputFile.read_exactly

    def counting(self: InputFile, offset: int, length: int) -> bytes:
        if self.place.role == "index":
            read.append(length)
        return exactly(self, offset, length)

    with output.reader() as full, output.reader(lookup="direct") as direct:
        monkeypatch.setattr(InputFile, "read_exactly", counting)
        for partition in (0, count // 2, count - 1):
            read.clear()
            found = list(direct.partition(partition))
            assert sum(read) <= 6 * 16 * 256
            assert found == list(full.partition(partition))


def test_damage_in_a_message_is_found_or_changes_nothing(tmp_path: Path) -> None:
    output = made(tmp_path, 2, count=12)
    good = output.contents()
    with output.reader() as full:
        regions = [(int(e["message_offset"]), int(e["message_size"])) for e in full._footer.regions]
        expected = {p: [(b.offset, bytes(b.payload)) for b in full.partition(p)] for p in full.partitions}
        footer_offset = full._opened.footer_offset
    faults: set[tuple[ErrorCode, str | None, int | None]] = set()
    for at, size in regions[:3]:
        for place in range(at + 24, at + 24 + size):
            for bit in (0, 6):
                damaged = bytearray(good["index"])
                damaged[place] ^= 1 << bit
                output.put(good | {"index": bytes(damaged)})
                with output.reader(lookup="direct") as direct:
                    for partition in (3, 9):
                        try:
                            found = [(b.offset, bytes(b.payload)) for b in direct.partition(partition)]
                        except FaroError as fault:
                            faults.add((fault.code, fault.role, fault.offset))
                        else:
                            # A members bit may give a shared extent to others; then the sum of the bytes told it.
                            assert found == expected[partition]
    in_index = {offset for code, role, offset in faults if role == "index" and code == ErrorCode.INCONSISTENT_INDEX}
    assert in_index == {at + 24 for at, _ in regions[:3]} | {footer_offset + 24}


def test_a_lookup_that_is_none(tmp_path: Path) -> None:
    output = made(tmp_path, 3)
    with pytest.raises(FaroError, match="invalid-argument"):
        output.reader(lookup="some")
