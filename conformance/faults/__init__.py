"""Faults for all implementations: kills, failing system calls, limits, files that change while they are read."""
