"""Dictionaries: trained, handed over, moved from file to file, and read by several threads (DIC)."""

from __future__ import annotations

import concurrent.futures
import random
import threading
from pathlib import Path
from typing import Any

import pytest
import zstandard

from faro_format import (
    DictionaryEntry,
    ErrorCode,
    FaroError,
    Follower,
    Limits,
    Reader,
    Writer,
    WriterOptions,
    check,
    rebuild,
    repair,
)
from faro_format._codec import Dictionary, train
from faro_format._writer.training import SMALL_BLOCK

WORDS = ["the", "of", "shuffle", "and", "partition", "region", "block", "extent", "to", "data", "in"]
WORDS += ["writer", "reader", "index", "footer", "zero"]
PARTITIONS = 200


def records(count: int, seed: int = 1) -> list[tuple[int, bytes]]:
    """Records of words, each with its partition."""
    rng = random.Random(seed)
    return [
        (rng.randrange(PARTITIONS), " ".join(rng.choice(WORDS) for _ in range(rng.randrange(4, 12))).encode())
        for _ in range(count)
    ]


def dictionary(seed: int = 1) -> bytes:
    """A dictionary that another program trained."""
    found = train([record for _, record in records(2000, seed)], 2048)
    assert found is not None
    return found


def frame(plain: bytes, raw: bytes) -> bytes:
    """A payload of codec 2, compressed with a dictionary."""
    digest = zstandard.ZstdCompressionDict(raw, dict_type=zstandard.DICT_TYPE_FULLDICT)
    parameters = zstandard.ZstdCompressionParameters.from_level(
        1, format=zstandard.FORMAT_ZSTD1_MAGICLESS, write_content_size=False, write_dict_id=False
    )
    return zstandard.ZstdCompressor(dict_data=digest, compression_params=parameters).compress(plain)


def paths(name: Path, layout: str) -> dict[str, Any]:
    """The files of an output, as arguments."""
    if layout == "single":
        return {"single": f"{name}.faro"}
    return {"data": f"{name}.data", "index": f"{name}.index"}


def write(name: Path, some: list[tuple[int, bytes]], **options: Any) -> int:
    """Write records, and return the bytes of the files."""
    with Writer(str(name), WriterOptions(partition_count=PARTITIONS, **options)) as writer:
        for partition, record in some:
            writer.write(partition, record)
    return sum(file.stat().st_size for file in name.parent.glob(f"{name.name}.*"))


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_a_trained_dictionary_makes_small_blocks_smaller(tmp_path: Path, layout: str) -> None:
    some = records(20_000)
    plain = write(tmp_path / "plain", some, layout=layout, codec="zstd", buffer_size=300_000)
    trained = write(tmp_path / "trained", some, layout=layout, codec="zstd", buffer_size=300_000, dictionaries=True)
    assert trained < 0.8 * plain
    files = paths(tmp_path / "trained", layout)
    assert check(**files).regions > 1
    with Reader(**files) as reader:
        assert len(reader.dictionaries) == 1
        for partition in range(0, PARTITIONS, 7):
            assert [bytes(r) for r in reader.records(partition)] == [r for p, r in some if p == partition]
        used = {block.dictionary for block in reader.all()}
    assert used == {1}


@pytest.mark.parametrize(
    ("what", "options"),
    [
        ("too few bytes", {"count": 300}),
        ("nothing alike", {"noise": True}),
        ("large blocks", {"one": True}),
        ("another codec", {"codec": "lz4"}),
        ("none", {"codec": "none"}),
    ],
)
def test_where_training_does_not_pay_there_is_no_dictionary(tmp_path: Path, what: str, options: dict[str, Any]) -> None:
    some = records(options.get("count", 8000))
    rng = random.Random(3)
    if options.get("noise"):
        some = [(partition, rng.randbytes(60)) for partition, _ in some]
    if options.get("one"):
        some = [(0, record) for _, record in some]
    write(tmp_path / "out", some, codec=options.get("codec", "zstd"), dictionaries=True)
    with Reader(**paths(tmp_path / "out", "paired")) as reader:
        assert reader.header.dictionaries
        assert reader.dictionaries == (), what
        assert {block.dictionary for block in reader.all()} == {0}


def test_large_blocks_go_without(tmp_path: Path) -> None:
    some = [*records(12_000), *((0, record) for _, record in records(3000, 2))]
    write(tmp_path / "out", some, codec="zstd", dictionaries=True)
    with Reader(**paths(tmp_path / "out", "paired")) as reader:
        found = {(block.plain_size < SMALL_BLOCK, block.dictionary) for block in reader.all()}
    assert found == {(True, 1), (False, 0)}


def test_dictionaries_are_refused(tmp_path: Path) -> None:
    good = dictionary()
    with (
        Writer(str(tmp_path / "without"), WriterOptions(partition_count=1)) as writer,
        pytest.raises(FaroError) as caught,
    ):
        writer.dictionary(good)
    assert caught.value.code == ErrorCode.INVALID_ARGUMENT
    with Writer(str(tmp_path / "with"), WriterOptions(partition_count=1, dictionaries=True)) as writer:
        writer.write(0, b"before")
        for bad in (b"", good[:7], b"\x28\xb5\x2f\xfd" + good[4:], good[:8] + bytes((1 << 20) - 7)):
            with pytest.raises(FaroError) as caught:
                writer.dictionary(bad)
            assert caught.value.code == ErrorCode.INVALID_ARGUMENT
        writer.write(0, b"behind")
        assert writer.dictionary(good[:8] + bytes((1 << 20) - 8)) == 1
        with writer.region(), pytest.raises(FaroError) as caught:
            writer.dictionary(good)
        assert caught.value.code == ErrorCode.INVALID_ARGUMENT
    with Reader(**paths(tmp_path / "with", "paired")) as reader:
        # The refused ones have not closed the region, and the one that was taken had no region after it.
        assert reader.region_count == 1
        assert reader.dictionaries == ()
    with pytest.raises(FaroError):
        WriterOptions(partition_count=1, dictionaries=1)  # type: ignore[arg-type]


def test_there_are_65_535_numbers(tmp_path: Path) -> None:
    head = dictionary()[:4]
    with Writer(str(tmp_path / "out"), WriterOptions(partition_count=1, dictionaries=True)) as writer:
        for number in range(1, 65_536):
            assert writer.dictionary(head + number.to_bytes(4, "little")) == number
        with pytest.raises(FaroError) as caught:
            writer.dictionary(head + bytes(4))
        assert caught.value.code == ErrorCode.INVALID_ARGUMENT
        assert writer.dictionary(head + (7).to_bytes(4, "little")) == 7
        writer.write(0, b"x")
    files = paths(tmp_path / "out", "paired")
    with pytest.raises(FaroError) as caught:
        Reader(**files)
    assert caught.value.code == ErrorCode.LIMIT_EXCEEDED
    assert check(**files, limits=Limits(max_dictionaries=65_535)).regions == 1


def test_blocks_of_two_files_are_copied_without_being_decoded(tmp_path: Path) -> None:
    """DIC-9: the sources number the same dictionaries the other way round."""

    def options() -> WriterOptions:
        return WriterOptions(partition_count=2, framing="opaque", dictionaries=True)

    one, two = dictionary(1), dictionary(2)
    plain = [b" ".join(word.encode() for word in WORDS), b"writer reader index footer region block extent"]
    for name, order in (("a", (one, two)), ("b", (two, one))):
        with Writer(str(tmp_path / name), options()) as writer:
            numbers = [writer.dictionary(raw) for raw in order]
            assert numbers == [1, 2]
            with writer.region() as region:
                for partition, (raw, number) in enumerate(zip(order, numbers, strict=True)):
                    text = plain[partition]
                    region.stored_block(partition, 0, 2, len(text), frame(text, raw), 1, number)
    with Writer(str(tmp_path / "m"), options()) as merged:
        for name in ("a", "b"):
            with Reader(**paths(tmp_path / name, "paired")) as source:
                moved = {}
                for number, entry in enumerate(source.dictionaries, 1):
                    raw = source._files.data.read_exactly(entry.offset + 24, entry.size)
                    moved[number] = merged.dictionary(raw)
                assert moved == ({1: 1, 2: 2} if name == "a" else {1: 2, 2: 1})
                with merged.region() as region:
                    for block in source.all():
                        number = moved[block.dictionary]
                        region.stored_block(block.partition, 0, 2, block.plain_size, block.stored, 1, number)
    with Reader(**paths(tmp_path / "m", "paired")) as reader:
        assert len(reader.dictionaries) == 2
        assert [reader.payload(partition) for partition in (0, 1)] == [text * 2 for text in plain]
    check(**paths(tmp_path / "m", "paired"))


def test_a_region_that_fails_leaves_its_dictionaries_waiting(tmp_path: Path) -> None:
    raw = dictionary()
    with Writer(str(tmp_path / "out"), WriterOptions(partition_count=2, dictionaries=True, follow=True)) as writer:
        assert writer.dictionary(raw) == 1
        with pytest.raises(FaroError), writer.region() as region:
            region.stored_block(0, 0, 2, 9, b"12345678", 1, 2)
        data = tmp_path / "out.data"
        assert data.stat().st_size == 64
        with Follower(**paths(tmp_path / "out", "paired")) as follower:
            writer.write(1, b"record")
            writer.flush()
            assert not follower.poll()
            assert [entry.offset for entry in follower.dictionaries] == [64]
            assert [bytes(record) for record in follower.records(1)] == [b"record"]


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_a_reader_and_a_follower_say_where_dictionaries_are(tmp_path: Path, layout: Any) -> None:
    raws = [dictionary(1), dictionary(2)[:-1]]
    found: tuple[DictionaryEntry, ...] = ()
    options = WriterOptions(partition_count=2, layout=layout, dictionaries=True, follow=True)
    files = paths(tmp_path / "out", layout)
    with Writer(tmp_path / "out", options) as writer, Follower(**files) as follower:
        for number, raw in enumerate(raws, 1):
            assert writer.dictionary(raw) == number
            # It is written before the blocks of the next region.
            assert follower.dictionaries == found
            writer.write(1, b"record")
            writer.flush()
            follower.poll()
            found = follower.dictionaries
            assert len(found) == number
        assert [entry.size for entry in found] == [len(raw) for raw in raws]
        blocks = Path(files.get("data") or files["single"]).read_bytes()
        assert [blocks[entry.offset + 24 :][: entry.size] for entry in found] == raws
    with Reader(**files) as reader:
        assert reader.dictionaries == found
    write(tmp_path / "without", [(0, b"record")])
    with Reader(tmp_path / "without") as reader:
        assert reader.dictionaries == ()


@pytest.mark.parametrize("layout", ["paired", "single"])
def test_a_cut_output_is_repaired_with_its_dictionaries(tmp_path: Path, layout: str) -> None:
    some = records(20_000)
    write(tmp_path / "out", some, layout=layout, codec="zstd", buffer_size=300_000, dictionaries=True)
    files = paths(tmp_path / "out", layout)
    last = Path(files.get("index") or files["single"])
    whole = check(**files).regions
    content = last.read_bytes()
    last.write_bytes(content[: content.rindex(b"FRRG") - 10])
    assert repair(**files).regions == whole - 1
    with Reader(**files) as reader:
        assert [entry.offset for entry in reader.dictionaries] == [64]
    check(**files)
    if layout == "paired":
        report = rebuild(**files)
        assert report.regions == whole - 1
        assert check(**files).blocks == report.blocks


def test_threads_take_a_dictionary_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    some = records(20_000)
    write(tmp_path / "out", some, codec="zstd", dictionaries=True)
    made = []
    digest = Dictionary.__init__
    start = threading.Barrier(4)

    def counted(self: Dictionary, raw: bytes) -> None:
        made.append(raw)
        digest(self, raw)

    monkeypatch.setattr(Dictionary, "__init__", counted)
    with Reader(**paths(tmp_path / "out", "paired")) as reader:

        def read(lane: int) -> int:
            start.wait()
            return sum(sum(1 for _ in reader.records(p)) for p in range(lane, PARTITIONS, 4))

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(read, range(4))) == len(some)
    assert len(made) == 1


def test_opening_reads_no_dictionary(tmp_path: Path) -> None:
    write(tmp_path / "out", records(20_000), codec="zstd", dictionaries=True)
    data = tmp_path / "out.data"
    content = bytearray(data.read_bytes())
    content[64 + 24 + 300] ^= 1
    data.write_bytes(content)
    with Reader(**paths(tmp_path / "out", "paired")) as reader:
        assert reader.stored_bytes(0) > 0
        with pytest.raises(FaroError) as caught:
            reader.payload(0)
    assert (caught.value.code, caught.value.role, caught.value.offset) == (ErrorCode.CHECKSUM, "data", 64)


def test_many_dictionaries_by_turns(tmp_path: Path) -> None:
    """More of them than a thread keeps contexts for."""
    several = [dictionary(seed) for seed in range(12)]
    text = b" ".join(word.encode() for word in WORDS)
    with Writer(str(tmp_path / "out"), WriterOptions(partition_count=1, framing="opaque", dictionaries=True)) as writer:
        numbers = [writer.dictionary(raw) for raw in several]
        with writer.region() as region:
            for turn in range(3):
                for number, raw in zip(numbers, several, strict=True):
                    plain = text + bytes([turn])
                    region.stored_block(0, 0, 2, len(plain), frame(plain, raw), 1, number)
    with Reader(**paths(tmp_path / "out", "paired")) as reader:
        expected = b"".join((text + bytes([turn])) * 12 for turn in range(3))
        assert reader.payload(0) == expected
