"""Libraries that only some calls need, or an error that says how to get them."""

from __future__ import annotations

import importlib
from typing import Any

_LEAST = {"pandas": "2.2.2", "polars": "1.12"}
"""The least versions that were tested; pyproject.toml has the same."""


def extra(name: str) -> Any:  # noqa: ANN401 - a module
    """Import a library that has an extra of its own name.

    Raises:
        ModuleNotFoundError: it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as fault:
        if fault.name != name:
            raise
        message = (
            f"This call needs {name}, which is not installed. Install it with: pip install '{name}>={_LEAST[name]}'. "
            f"Or install this library from its source folder with the extra \"{name}\": pip install './python[{name}]'"
        )
        raise ModuleNotFoundError(message, name=name) from None
