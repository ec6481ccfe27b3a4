"""Blocks: headers, checks, and payloads."""
