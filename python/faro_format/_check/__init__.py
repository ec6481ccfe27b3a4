"""Checking a whole output (CHK)."""
