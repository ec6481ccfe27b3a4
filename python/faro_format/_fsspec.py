"""fsspec, or an error that says how to get it."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from faro_format._error import invalid

Result = TypeVar("Result")


def filesystem_of(url: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """Return the filesystem that a URL names, and the path in it.

    Raises:
        ModuleNotFoundError: fsspec is not installed. For the package of a protocol, fsspec raises an ImportError.
        FaroError: ``invalid-argument`` if fsspec does not know the protocol, or refuses the options.
    """
    try:
        from fsspec.core import url_to_fs
    except ModuleNotFoundError as fault:
        if (fault.name or "").split(".")[0] != "fsspec":
            raise
        message = (
            "URLs need fsspec, which is not installed. Install it with: pip install 'fsspec>=2025.2'. Or install this "
            "library from its source folder with the extra \"fsspec\": pip install './python[fsspec]'"
        )
        raise ModuleNotFoundError(message, name="fsspec") from None
    try:
        filesystem, path = url_to_fs(url, **options)
    except (ValueError, TypeError) as fault:
        raise invalid("a URL and storage_options that fsspec accepts", str(fault)) from fault
    return filesystem, path


def wait_for(filesystem: Any, work: Coroutine[Any, Any, Result]) -> Result:  # noqa: ANN401 - fsspec has no types
    """Run a coroutine in the event loop of a filesystem, and return what it returns."""
    from fsspec.asyn import sync

    async def run() -> Result:
        return await work

    result: Result = sync(filesystem.loop, run)
    return result
