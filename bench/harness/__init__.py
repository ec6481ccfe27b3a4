"""Runs the programs of bench/README.md in turns, keeps what they measured in bench.json, and makes the page."""
