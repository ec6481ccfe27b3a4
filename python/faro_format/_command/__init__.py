"""The command ``python -m faro_format``."""
