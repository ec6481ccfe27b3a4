"""Payloads as tables: record batches, lines of text, and records. Needs pyarrow."""
