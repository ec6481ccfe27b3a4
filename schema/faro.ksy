meta:
  id: faro
  title: Faro shuffle data
  file-extension:
    - data
    - index
    - faro
  license: Apache-2.0
  ks-version: 0.11
  endian: le
  bit-endian: le
doc: |
  The bytes of a whole Faro file, finished or not: a header, blocks, and in a finished index or single file a tail.
  The normative text is spec/. What this language cannot say it leaves out: checksums, the payloads' compression, and
  the inside of messages, which are FlatBuffers (schema/faro.fbs).
doc-ref: spec/README.md
seq:
  - id: header
    type: header
  - id: body
    size: blocks_end - 64
    type: blocks
  - id: tail
    type: tail
    if: has_tail
instances:
  end_magic:
    pos: _io.size - 8
    size: 8
  has_tail:
    value: header.kind != file_kind::data and _io.size >= 88 and end_magic == [0x76, 0xb9, 0xbe, 0xad, 0xb0, 0xf2, 0xf5, 0xe5]
    doc: Whether the file is finished (a data file has no tail, whatever its last bytes are).
  blocks_end:
    value: 'has_tail ? _io.size - 24 : _io.size'
types:
  header:
    doc-ref: spec/header.md
    seq:
      - id: magic
        contents: [0x89, FARO, 0x0d, 0x0a, 0x1a]
      - id: kind
        type: u1
        enum: file_kind
      - id: version_major
        type: u1
        valid: 1
      - id: version_minor
        type: u1
      - id: framing
        type: u1
        enum: framing
      - id: partition_count
        type: u4
        valid:
          min: 1
          max: 0x10000000
      - id: reader_features
        type: u4
      - id: writer_features
        type: u4
      - id: producer
        type: u8
        doc: All ones in a merged file.
      - id: attempt
        type: u8
        doc: Of the producer; in a merged file the generation of the merge.
      - id: file_id
        size: 16
      - id: first_partition
        type: u4
      - id: checksum
        type: u4
        doc: CRC-32C of bytes 0 to 59.
  blocks:
    seq:
      - id: block
        type: block
        repeat: eos
  block:
    doc-ref: spec/block.md
    seq:
      - id: stored_size
        type: u4
      - id: plain_size
        type: u4
      - id: partition
        type: u4
        doc: FFFFFFFF in shared extents and metadata blocks.
      - id: sequence
        type: u4
      - id: kind
        type: u1
        enum: block_kind
      - id: codec
        type: u1
        enum: codec
      - id: dictionary
        type: u2
        valid:
          expr: _ == 0 or (_root.header.reader_features & 2) != 0
        doc: Number of the dictionary that the payload is compressed with, 0 without one; a dictionary's own number.
      - id: checksum
        type: u4
        doc: CRC-32C of the file_id in the header, header bytes 0 to 19 and the stored payload.
      - id: payload
        size: stored_size
        type:
          switch-on: kind
          cases:
            'block_kind::region': message
            'block_kind::footer': message
            'block_kind::schema': message
            'block_kind::dictionary': dictionary
      - id: padding
        type: u1
        valid: 0
        repeat: expr
        repeat-expr: (8 - stored_size % 8) % 8
    instances:
      is_metadata:
        value: kind.to_i >= 128
      is_shared:
        value: not is_metadata and partition == 0xffffffff
      size_in_file:
        value: 24 + stored_size + (8 - stored_size % 8) % 8
  message:
    doc: A FlatBuffers buffer.
    doc-ref: spec/messages.md
    seq:
      - id: root
        type: u4
        doc: Offset of the root table from the first byte of the message.
      - id: identifier
        type: str
        encoding: ASCII
        size: 4
      - id: rest
        size-eos: true
  dictionary:
    doc: A Zstandard dictionary (RFC 8878, section 5); its entropy tables and content are not taken apart.
    doc-ref: spec/dictionaries.md
    seq:
      - id: magic
        contents: [0x37, 0xa4, 0x30, 0xec]
      - id: dictionary_id
        type: u4
        doc: Readers ignore it.
      - id: rest
        size-eos: true
  tail:
    doc-ref: spec/files.md
    seq:
      - id: footer_offset
        type: u8
      - id: footer_size
        type: u4
      - id: checksum
        type: u4
        doc: CRC-32C of the bytes before it and behind it.
      - id: magic
        contents: [0x76, 0xb9, 0xbe, 0xad, 0xb0, 0xf2, 0xf5, 0xe5]
enums:
  file_kind:
    1: data
    2: index
    3: single
    4: manifest
    5: fragment
  framing:
    0: opaque
    1: records
    2: arrow
  codec:
    0: none
    1: lz4
    2: zstd
  block_kind:
    0: data
    1: event
    128: region
    129: footer
    130: schema
    131: dictionary
