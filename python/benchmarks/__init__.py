"""Benchmarks of the Python library beside pyarrow (bench/README.md): ``python -m benchmarks --help``.

pyperf and pytest-benchmark start one function many times, and one after the other; what is measured here are whole
passes over files, in which Faro and its peers take turns, so that neighbours in time meet the same machine.
"""
