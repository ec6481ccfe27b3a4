"""Runs the programs of bench/README.md in turns, stores their measurements in bench.json, and makes the page."""
