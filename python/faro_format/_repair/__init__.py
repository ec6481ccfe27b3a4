"""Repair, rebuild, recovery and removal of unfinished outputs."""
