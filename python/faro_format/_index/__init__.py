"""Regions, and where a partition is in them."""
