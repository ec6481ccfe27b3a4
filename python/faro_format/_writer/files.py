"""The files of a writer, wherever they go: local ones, or those of a destination."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from faro_format._arguments import is_url, shown
from faro_format._error import invalid
from faro_format._fsspec import filesystem_of
from faro_format._storage.destination import Destination, check_destination_methods
from faro_format._storage.names import Layout, Path, layout_to_write, name_to_write, split_remote
from faro_format._storage.remote_destination import RemoteDestination
from faro_format._storage.stored_file import StoredFile
from faro_format._writer.destination_files import DestinationFiles
from faro_format._writer.made_files import WrittenFile
from faro_format._writer.options import WriterOptions
from faro_format._writer.output_files import OutputFiles


class Files(Protocol):
    """The data and index file, or the single file, of a writer. What fails raises ``io``."""

    @property
    def data(self) -> WrittenFile:
        """The data file, or the single file."""

    @property
    def index(self) -> WrittenFile:
        """The index file, or the single file."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def paired(self) -> bool:
        """Whether there are two."""

    def check_free(self) -> None:
        """Raise ``io`` if a file exists that the writer may not replace (WRT-4)."""

    def create(self, layout: Layout) -> None:
        """Create the files of a layout; :meth:`discard` removes them after an error."""

    def publish(self, *, sync: Callable[[], None] | None, reading: bool = False) -> None:
        """Give the files their names and close them; after an error none has its name.

        Args:
            sync: syncs the files, so that they survive a crash; None if that is not wanted.
            reading: whether :meth:`readers` is called afterwards.
        """

    def readers(self) -> tuple[StoredFile, StoredFile | None]:
        """Return the published files for a reader: the index or single file, and the data file."""

    def cut_tail(self) -> None:
        """Make followed files unfinished again (WRT-6)."""

    def discard(self) -> None:
        """Close and remove the files. Files that cannot be removed stay."""

    def close(self) -> None:
        """Close the files, which keep their names."""

    def drop(self, *, keep: bool) -> None:
        """Remove the files of a writer that was dropped; keep followed ones, unfinished, if asked to."""


def files_to_write(
    name: Path | None,
    options: WriterOptions,
    destination: Destination | None,
    storage_options: Mapping[str, Any] | None = None,
) -> tuple[Files, Layout | None]:
    """Return the files of an output that a caller names, and its layout; None if that is decided later.

    Raises:
        FaroError: ``invalid-argument`` if it is not one of NAME and destination, or an option is for others.
        ImportError: fsspec, or its package for a protocol, is not installed.
    """
    if (name is None) == (destination is None):
        raise invalid("name or destination", "neither" if name is None else "both")
    undecided = options.single_below > 0
    remote = is_url(name)
    if storage_options is not None and not isinstance(storage_options, Mapping):
        raise invalid("storage_options: a dict of options of the filesystem", shown(storage_options))
    if storage_options is not None and not remote:
        raise invalid("storage_options with a URL only", "no URL")
    if remote:
        if options.follow:
            raise invalid("follow with a local file only", "a URL")
        filesystem, path = filesystem_of(str(name), storage_options or {})
        base, by_name = split_remote(path)
        layout = layout_to_write(str(name), by_name, options.layout, undecided=undecided)
        return DestinationFiles(RemoteDestination(filesystem, base), replace(options, layout=layout)), layout
    if destination is None:
        base, layout = name_to_write(name, options.layout, undecided=undecided)  # type: ignore[arg-type]
        return OutputFiles(base, options), layout
    check_destination_methods("destination", destination)
    if options.follow:
        raise invalid("follow with a local file only", f"a destination, {shown(destination)}")
    return DestinationFiles(destination, options), None if undecided else options.layout or "paired"
