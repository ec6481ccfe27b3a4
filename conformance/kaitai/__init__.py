"""The parser that the Kaitai Struct compiler makes of schema/faro.ksy (`make kaitai`)."""
