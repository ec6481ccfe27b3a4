"""The messages of the index: verified, read, and built."""
