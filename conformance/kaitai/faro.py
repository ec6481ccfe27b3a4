# This is a generated file! Please edit source .ksy file and use kaitai-struct-compiler to rebuild
# type: ignore

import kaitaistruct
from kaitaistruct import KaitaiStruct, KaitaiStream, BytesIO
from enum import IntEnum


if getattr(kaitaistruct, 'API_VERSION', (0, 9)) < (0, 11):
    raise Exception("Incompatible Kaitai Struct Python API: 0.11 or later is required, but you have %s" % (kaitaistruct.__version__))

class Faro(KaitaiStruct):
    """The bytes of a whole Faro file, finished or not: a header, blocks, and in a finished index or single file a tail.
    The normative text is spec/. What this language cannot say it leaves out: checksums, the payloads' compression, and
    the inside of messages, which are FlatBuffers (schema/faro.fbs).
    
    .. seealso::
       spec/README.md
    """

    class BlockKind(IntEnum):
        data = 0
        event = 1
        region = 128
        footer = 129
        schema = 130
        dictionary = 131

    class Codec(IntEnum):
        none = 0
        lz4 = 1
        zstd = 2

    class FileKind(IntEnum):
        data = 1
        index = 2
        single = 3
        manifest = 4
        fragment = 5

    class Framing(IntEnum):
        opaque = 0
        records = 1
        arrow = 2
    def __init__(self, _io, _parent=None, _root=None):
        super(Faro, self).__init__(_io)
        self._parent = _parent
        self._root = _root or self
        self._read()

    def _read(self):
        self.header = Faro.Header(self._io, self, self._root)
        self._raw_body = self._io.read_bytes(self.blocks_end - 64)
        _io__raw_body = KaitaiStream(BytesIO(self._raw_body))
        self.body = Faro.Blocks(_io__raw_body, self, self._root)
        if self.has_tail:
            pass
            self.tail = Faro.Tail(self._io, self, self._root)



    def _fetch_instances(self):
        pass
        self.header._fetch_instances()
        self.body._fetch_instances()
        if self.has_tail:
            pass
            self.tail._fetch_instances()

        _ = self.end_magic
        if hasattr(self, '_m_end_magic'):
            pass


    class Block(KaitaiStruct):
        """
        .. seealso::
           spec/block.md
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(Faro.Block, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.stored_size = self._io.read_u4le()
            self.plain_size = self._io.read_u4le()
            self.partition = self._io.read_u4le()
            self.sequence = self._io.read_u4le()
            self.kind = KaitaiStream.resolve_enum(Faro.BlockKind, self._io.read_u1())
            self.codec = KaitaiStream.resolve_enum(Faro.Codec, self._io.read_u1())
            self.dictionary = self._io.read_u2le()
            _ = self.dictionary
            if not  ((_ == 0) or (self._root.header.reader_features & 2 != 0)) :
                raise kaitaistruct.ValidationExprError(self.dictionary, self._io, u"/types/block/seq/6")
            self.checksum = self._io.read_u4le()
            _on = self.kind
            if _on == Faro.BlockKind.dictionary:
                pass
                self._raw_payload = self._io.read_bytes(self.stored_size)
                _io__raw_payload = KaitaiStream(BytesIO(self._raw_payload))
                self.payload = Faro.Dictionary(_io__raw_payload, self, self._root)
            elif _on == Faro.BlockKind.footer:
                pass
                self._raw_payload = self._io.read_bytes(self.stored_size)
                _io__raw_payload = KaitaiStream(BytesIO(self._raw_payload))
                self.payload = Faro.Message(_io__raw_payload, self, self._root)
            elif _on == Faro.BlockKind.region:
                pass
                self._raw_payload = self._io.read_bytes(self.stored_size)
                _io__raw_payload = KaitaiStream(BytesIO(self._raw_payload))
                self.payload = Faro.Message(_io__raw_payload, self, self._root)
            elif _on == Faro.BlockKind.schema:
                pass
                self._raw_payload = self._io.read_bytes(self.stored_size)
                _io__raw_payload = KaitaiStream(BytesIO(self._raw_payload))
                self.payload = Faro.Message(_io__raw_payload, self, self._root)
            else:
                pass
                self.payload = self._io.read_bytes(self.stored_size)
            self.padding = []
            for i in range((8 - self.stored_size % 8) % 8):
                self.padding.append(self._io.read_u1())
                if not self.padding[i] == 0:
                    raise kaitaistruct.ValidationNotEqualError(0, self.padding[i], self._io, u"/types/block/seq/9")



        def _fetch_instances(self):
            pass
            _on = self.kind
            if _on == Faro.BlockKind.dictionary:
                pass
                self.payload._fetch_instances()
            elif _on == Faro.BlockKind.footer:
                pass
                self.payload._fetch_instances()
            elif _on == Faro.BlockKind.region:
                pass
                self.payload._fetch_instances()
            elif _on == Faro.BlockKind.schema:
                pass
                self.payload._fetch_instances()
            else:
                pass
            for i in range(len(self.padding)):
                pass


        @property
        def is_metadata(self):
            if hasattr(self, '_m_is_metadata'):
                return self._m_is_metadata

            self._m_is_metadata = int(self.kind) >= 128
            return getattr(self, '_m_is_metadata', None)

        @property
        def is_shared(self):
            if hasattr(self, '_m_is_shared'):
                return self._m_is_shared

            self._m_is_shared =  (((not (self.is_metadata))) and (self.partition == 4294967295)) 
            return getattr(self, '_m_is_shared', None)

        @property
        def size_in_file(self):
            if hasattr(self, '_m_size_in_file'):
                return self._m_size_in_file

            self._m_size_in_file = (24 + self.stored_size) + (8 - self.stored_size % 8) % 8
            return getattr(self, '_m_size_in_file', None)


    class Blocks(KaitaiStruct):
        def __init__(self, _io, _parent=None, _root=None):
            super(Faro.Blocks, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.block = []
            i = 0
            while not self._io.is_eof():
                self.block.append(Faro.Block(self._io, self, self._root))
                i += 1



        def _fetch_instances(self):
            pass
            for i in range(len(self.block)):
                pass
                self.block[i]._fetch_instances()



    class Dictionary(KaitaiStruct):
        """A Zstandard dictionary (RFC 8878, section 5); its entropy tables and content are not taken apart.
        
        .. seealso::
           spec/dictionaries.md
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(Faro.Dictionary, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.magic = self._io.read_bytes(4)
            if not self.magic == b"\x37\xA4\x30\xEC":
                raise kaitaistruct.ValidationNotEqualError(b"\x37\xA4\x30\xEC", self.magic, self._io, u"/types/dictionary/seq/0")
            self.dictionary_id = self._io.read_u4le()
            self.rest = self._io.read_bytes_full()


        def _fetch_instances(self):
            pass


    class Header(KaitaiStruct):
        """
        .. seealso::
           spec/header.md
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(Faro.Header, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.magic = self._io.read_bytes(8)
            if not self.magic == b"\x89\x46\x41\x52\x4F\x0D\x0A\x1A":
                raise kaitaistruct.ValidationNotEqualError(b"\x89\x46\x41\x52\x4F\x0D\x0A\x1A", self.magic, self._io, u"/types/header/seq/0")
            self.kind = KaitaiStream.resolve_enum(Faro.FileKind, self._io.read_u1())
            self.version_major = self._io.read_u1()
            if not self.version_major == 1:
                raise kaitaistruct.ValidationNotEqualError(1, self.version_major, self._io, u"/types/header/seq/2")
            self.version_minor = self._io.read_u1()
            self.framing = KaitaiStream.resolve_enum(Faro.Framing, self._io.read_u1())
            self.partition_count = self._io.read_u4le()
            if not self.partition_count >= 1:
                raise kaitaistruct.ValidationLessThanError(1, self.partition_count, self._io, u"/types/header/seq/5")
            if not self.partition_count <= 268435456:
                raise kaitaistruct.ValidationGreaterThanError(268435456, self.partition_count, self._io, u"/types/header/seq/5")
            self.reader_features = self._io.read_u4le()
            self.writer_features = self._io.read_u4le()
            self.producer = self._io.read_u8le()
            self.attempt = self._io.read_u8le()
            self.file_id = self._io.read_bytes(16)
            self.first_partition = self._io.read_u4le()
            self.checksum = self._io.read_u4le()


        def _fetch_instances(self):
            pass


    class Message(KaitaiStruct):
        """A FlatBuffers buffer.
        
        .. seealso::
           spec/messages.md
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(Faro.Message, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.root = self._io.read_u4le()
            self.identifier = (self._io.read_bytes(4)).decode(u"ASCII")
            self.rest = self._io.read_bytes_full()


        def _fetch_instances(self):
            pass


    class Tail(KaitaiStruct):
        """
        .. seealso::
           spec/files.md
        """
        def __init__(self, _io, _parent=None, _root=None):
            super(Faro.Tail, self).__init__(_io)
            self._parent = _parent
            self._root = _root
            self._read()

        def _read(self):
            self.footer_offset = self._io.read_u8le()
            self.footer_size = self._io.read_u4le()
            self.checksum = self._io.read_u4le()
            self.magic = self._io.read_bytes(8)
            if not self.magic == b"\x76\xB9\xBE\xAD\xB0\xF2\xF5\xE5":
                raise kaitaistruct.ValidationNotEqualError(b"\x76\xB9\xBE\xAD\xB0\xF2\xF5\xE5", self.magic, self._io, u"/types/tail/seq/3")


        def _fetch_instances(self):
            pass


    @property
    def blocks_end(self):
        if hasattr(self, '_m_blocks_end'):
            return self._m_blocks_end

        self._m_blocks_end = (self._io.size() - 24 if self.has_tail else self._io.size())
        return getattr(self, '_m_blocks_end', None)

    @property
    def end_magic(self):
        if hasattr(self, '_m_end_magic'):
            return self._m_end_magic

        _pos = self._io.pos()
        self._io.seek(self._io.size() - 8)
        self._m_end_magic = self._io.read_bytes(8)
        self._io.seek(_pos)
        return getattr(self, '_m_end_magic', None)

    @property
    def has_tail(self):
        """Whether the file is finished (a data file has no tail, whatever its last bytes are)."""
        if hasattr(self, '_m_has_tail'):
            return self._m_has_tail

        self._m_has_tail =  ((self.header.kind != Faro.FileKind.data) and (self._io.size() >= 88) and (self.end_magic == b"\x76\xB9\xBE\xAD\xB0\xF2\xF5\xE5")) 
        return getattr(self, '_m_has_tail', None)


