"""Faults under all implementations: kills, refused and short system calls, limits, files that change under readers."""
