"""Hostile files whose checksums are right, read under an address-space limit and a bound on processor time."""
