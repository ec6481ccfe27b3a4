"""Runs the programs of bench/README.md in turns, stores their measurements by machine, and makes the page."""
