"""The walk over an extent: its blocks in order, each checked (BLK-7), and the positions of the streams (PRT-4)."""

from __future__ import annotations

from collections.abc import Iterator

from faro_format._block.block import (
    BLOCK_HEADER_SIZE,
    HEADER_WORDS,
    NO_PARTITION,
    PADDING,
    PARTITION_KINDS,
    Block,
    check_block,
    check_dictionary,
    check_padding,
    check_partition,
    check_sequence,
    decode,
)
from faro_format._bytes.checksum import extend
from faro_format._codec import CODEC_NONE
from faro_format._index.regions import Extent
from faro_format._limits import Limits
from faro_format._storage.input_file import Window


class Sequences:
    """The positions of the streams of blocks in one walk (PRT-4)."""

    def __init__(self, *, from_start: bool = True, all_shared: bool = False) -> None:
        """Begin a walk.

        Args:
            from_start: whether it begins at region 0, so that the first sequences of own blocks are known.
            all_shared: whether it reads all shared blocks of the file, as ``check`` does.
        """
        self.from_start = from_start
        self.all_shared = all_shared
        self.next_own: dict[int, int] = {}
        self.last_shared = -1


def read_extent(
    window: Window,
    extent: Extent,
    sequences: Sequences,
    limits: Limits,
    *,
    selective: bool,
    verify: bool,
    plain: bool = True,
) -> Iterator[Block]:
    """Yield the blocks of an extent, each checked by BLK-7.

    Uncompressed data that no check refuses passes all of them here, which takes a third of the time. Any other block
    goes through :func:`_read_block`, whose checks are in the order of BLK-7: it accepts it, or says what is wrong.

    Args:
        window: the file that holds the extent.
        extent: its bounds and its partition.
        sequences: the positions of the streams; they advance.
        limits: the reader's limits.
        selective: whether sequences may have gaps.
        verify: whether checksums are verified.
        plain: whether payloads are decoded.
    """
    at, end, partition, first_block, _, _ = extent
    own = partition != NO_PARTITION
    exactly = first_block
    if own:
        following = sequences.next_own.get(partition)
        above = -1 if following is None else following - 1
        if not selective:
            exactly = 0 if following is None and sequences.from_start else following
    else:
        above = sequences.last_shared
    # Besides first_block, the count of all shared blocks of the file (CHK-1, step 7).
    counted = sequences.last_shared + 1 if sequences.all_shared and not own and not selective else None
    file = window.file
    seed = file.seed
    most = min(limits.max_block_size, limits.max_plain_size)
    blocks = plain_bytes = 0
    try:
        while at < end:
            usual = False
            if counted is None and end - at >= BLOCK_HEADER_SIZE:
                begin = window.locate(at, BLOCK_HEADER_SIZE)
                data = window.data
                size, plain_size, number, sequence, what, checksum = HEADER_WORDS.unpack_from(data, begin)
                first = begin + BLOCK_HEADER_SIZE
                last = first + size
                padding = PADDING[size & 7]
                after = last + len(padding)
                usual = (
                    not what
                    and 0 < size == plain_size <= most
                    and number == partition
                    and sequence > above
                    and (sequence == exactly or exactly is None)
                    and after - begin <= end - at
                    and after <= len(data)
                    and data[last:after] == padding
                    and (
                        not verify
                        or extend(extend(seed, window.summed[begin : begin + 20]), window.array[first:last]) == checksum
                    )
                )
            if usual:
                stored = window.view[first:last]
                block = tuple.__new__(Block, (at, partition, sequence, 0, CODEC_NONE, size, stored, stored, None, 0))
                at += after - begin
            else:
                block = _read_block(window, at, extent, exactly, above, counted, limits, verify=verify, plain=plain)
                sequence = block.sequence
                at = block.end
                if counted is not None:
                    counted += 1
            above = sequence
            exactly = None if selective else above + 1
            if own:
                sequences.next_own[partition] = above + 1
            else:
                sequences.last_shared = above
            blocks += 1
            plain_bytes += block.plain_size
            yield block
    finally:
        # For the whole extent at once, however the walk ends.
        file.counter.add_blocks(blocks, plain_bytes, at - extent.begin)


def _read_block(
    window: Window,
    at: int,
    extent: Extent,
    exactly: int | None,
    above: int,
    counted: int | None,
    limits: Limits,
    *,
    verify: bool,
    plain: bool,
) -> Block:
    """Return any block, after the checks of BLK-7 in their order; see :func:`read_extent`.

    Args:
        window: the file that holds the extent.
        at: where the block begins.
        extent: the bounds and the partition.
        exactly: its sequence, if that is known.
        above: a number below its sequence.
        counted: its sequence again, if shared blocks are counted.
        limits: the reader's limits.
        verify: whether the checksum is verified.
        plain: whether the payload is decoded.
    """
    place = window.file.place
    block = check_block(window, at, extent.end, PARTITION_KINDS, limits, metadata=False, verify=verify)
    check_partition(block, extent.partition, place)
    check_sequence(block, place, exactly=exactly, above=above)
    if counted is not None:
        check_sequence(block, place, exactly=counted)
    check_dictionary(block, window.file)
    check_padding(block, window)
    return decode(block, limits, window.file) if plain else block
