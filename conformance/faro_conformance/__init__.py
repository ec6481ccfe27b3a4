"""Runs the Faro conformance cases against implementations that speak the protocol of conformance/protocol.md."""

__version__ = "0.1.0"
