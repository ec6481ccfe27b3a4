"""Asks all implementations about files and calls that nobody thought of, and holds their answers against each other."""
