"""A model of the writer: which calls are refused, and what each partition reads (WRT, SRT-4, PRT-1)."""

from __future__ import annotations

from faro_format import ErrorCode, Framing, WriterOptions

from faro_targets.program import Call, Handed, Item, Property, Put

Piece = tuple[int, bytes]


class Pieces:
    """The content of a partition in pieces. In framing opaque, data between two events is one piece."""

    def __init__(self, options: WriterOptions) -> None:
        self._records = options.framing == Framing.RECORDS
        self._ordered = options.ordered
        self._pieces: list[Piece] = []

    def add(self, kind: int, payload: bytes) -> None:
        """Add a record or an event."""
        if kind == 0 and not self._records:
            if not payload:
                return
            if self._pieces and self._pieces[-1][0] == 0:
                payload = self._pieces.pop()[1] + payload
        self._pieces.append((kind, payload))

    def add_block(self, kind: int, payload: bytes) -> None:
        """Add a block. With framing records its payload is records."""
        if kind or not self._records:
            self.add(kind, payload)
            return
        at = 0
        while at < len(payload):
            length = int.from_bytes(payload[at : at + 4], "little")
            self.add(kind, payload[at + 4 : at + 4 + length])
            at += 4 + length

    def normal(self) -> list[Piece]:
        """Records and events (with framing opaque all bytes) in order, or sorted if order has no meaning."""
        if self._ordered:
            return self._pieces
        if self._records:
            return sorted(self._pieces)
        data = b"".join(payload for kind, payload in self._pieces if kind == 0)
        return [*sorted(piece for piece in self._pieces if piece[0]), (0, bytes(sorted(data)))]


class WriterModel:
    """What was written so far."""

    def __init__(self, options: WriterOptions) -> None:
        self._options = options
        count = options.partition_count
        self.contents = [Pieces(options) for _ in range(count)]
        self.records = [0] * count
        self.properties: dict[str, str] = {}
        self.finished = False
        self._ended = False

    def call(self, call: Call) -> ErrorCode | None:
        """Carry out a call. Returns the error that it must give."""
        if self._ended:
            return None if call == "abort" else ErrorCode.INVALID_ARGUMENT
        if isinstance(call, Put):
            return self._put(call)
        if isinstance(call, Handed):
            return self._handed(call.items)
        if isinstance(call, Property):
            if call.key in self.properties:
                return ErrorCode.INVALID_ARGUMENT
            self.properties[call.key] = call.value
        else:
            self.finished = call == "finish"
            self._ended = call != "flush"
        return None

    def _readers(self, readers: int | list[int] | None) -> list[int]:
        """The partitions counted from the first one, each once; None if the file does not have them."""
        first, count = self._options.first_partition, self._options.partition_count
        if readers is None:
            return [*range(count)]
        wanted = {readers} if isinstance(readers, int) else set(readers)
        found = [partition - first for partition in wanted]
        return found if all(reader < count for reader in found) else []

    def _put(self, put: Put) -> ErrorCode | None:
        readers = self._readers(put.readers)
        if not readers or put.kind == 2:
            return ErrorCode.INVALID_ARGUMENT
        framed = put.kind == 0 and self._options.framing == Framing.RECORDS
        size = len(put.payload) + (4 if framed else 0)
        if size > self._options.max_plain_size and (put.kind or framed):
            return ErrorCode.LIMIT_EXCEEDED
        for reader in readers:
            self.contents[reader].add(put.kind, put.payload)
            self.records[reader] += put.kind == 0
        return None

    def _handed(self, items: list[Item]) -> ErrorCode | None:
        """WRT-8: a region with a refused block leaves no trace."""
        options = self._options
        members: list[int] | None = None
        last = 0
        taken: list[tuple[Item, list[int]]] = []
        for item in items:
            if item.shared:
                members = self._readers(None) if item.shared == "all" else [0]
                continue
            if len(item.payload) > options.max_plain_size or (item.kind == 0 and not item.payload):
                return ErrorCode.INVALID_ARGUMENT
            readers = members
            if readers is None:
                relative = item.partition - options.first_partition
                slot = (relative - options.rotation) % options.partition_count
                if relative >= options.partition_count or slot < last:
                    return ErrorCode.INVALID_ARGUMENT
                last = slot
                readers = [relative]
            taken.append((item, readers))
        for item, readers in taken:
            framed = item.kind == 0 and options.framing == Framing.RECORDS
            for reader in readers:
                self.contents[reader].add(item.kind, item.payload[4:] if framed else item.payload)
                self.records[reader] += item.records if item.kind == 0 else 0
        return None
