"""Blocks: headers, checks, and what a payload is."""
