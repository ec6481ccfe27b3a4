"""pyarrow, or an error that says how to get it."""

from __future__ import annotations

try:
    import pyarrow as pa
except ModuleNotFoundError as fault:
    if fault.name != "pyarrow":
        raise
    message = (
        "Arrow tables need pyarrow, which is not installed. Install it with: pip install 'pyarrow>=20.0'. Or install "
        "this library from its source folder with the extra \"arrow\": pip install './python[arrow]'"
    )
    raise ModuleNotFoundError(message, name="pyarrow") from None

__all__ = ["pa"]
