"""Faro: an open on-disk format for shuffle data."""

VERSION_MAJOR = 1
"""The major version of the format that this library reads and writes."""

VERSION_MINOR = 0
"""The minor version of the format that this library writes."""
