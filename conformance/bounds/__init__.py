"""Hostile files with correct checksums, read under an address-space limit and a bound on processor time."""
