"""Regions, and the extents of a partition in them."""
