"""Gives all implementations files and calls that no one thought of, and compares their answers."""
