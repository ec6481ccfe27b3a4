"""The files of one output, from their creation until they are published or removed (PUB-2 to PUB-4)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence

from faro_format._error import FaroError
from faro_format._storage.names import Layout, paths_of
from faro_format._storage.output_file import OutputFile, sync_folder
from faro_format._storage.publishing_lock import PublishingLock, locked
from faro_format._storage.stored_file import StoredFile
from faro_format._writer.made_files import MadeFiles
from faro_format._writer.options import WriterOptions

_LAYOUTS: tuple[Layout, ...] = ("paired", "single")


def temporary_ending(file_id: bytes) -> str:
    """Return the ending of a temporary name, after the final name (PUB-2)."""
    return f".{file_id[:4].hex()}.tmp"


def _files(base: str, layout: Layout, options: WriterOptions) -> list[OutputFile]:
    """Return the files of a layout, which are not made yet."""
    ending = temporary_ending(options.file_id)
    paths = paths_of(base, layout)
    named = (("data", paths.data), ("index", paths.index), ("single", paths.single))
    return [
        OutputFile(path, role, None if options.follow else path + ending) for role, path in named if path is not None
    ]


class OutputFiles(MadeFiles[OutputFile]):
    """The data and index file, or the single file, of a writer."""

    def __init__(self, base: str, options: WriterOptions) -> None:
        """Begin without files; :meth:`create` makes them.

        Args:
            base: the output's NAME without its ending.
            options: the writer's.
        """
        super().__init__()
        # Named now, because the program may change its folder before the files are made.
        self._named = {layout: _files(base, layout, options) for layout in _LAYOUTS}
        # With single_below, the names of both layouts must be free (WRT-13).
        self._kept_free: list[OutputFile] = []
        if options.single_below:
            self._kept_free = [file for files in self._named.values() for file in files]
        self._follow, self._overwrite = options.follow, options.overwrite
        self._base = os.path.abspath(base)

    def check_free(self) -> None:
        """Raise ``io`` if a file exists that the writer may not replace (WRT-4)."""
        if not self._overwrite:
            for file in self._kept_free or self._files:
                file.check_free()

    def create(self, layout: Layout) -> None:
        """Create the files of a layout.

        Raises:
            FaroError: ``io``; :meth:`discard` removes the files that were made.
        """
        self._files = self._named[layout]
        if self._follow and self._overwrite:
            locked(self._lock(), self._create_anew)
            return
        self.check_free()
        for file in self._files:
            file.create()

    def _create_anew(self) -> None:
        # Unlinked and not truncated, so that a reader of an older file keeps it.
        for file in self._files:
            file.remove_older()
        for file in self._files:
            # Another writer, which does not overwrite, may have the name now.
            file.create(replacing=True)

    def publish(self, *, sync: Callable[[], None] | None, reading: bool = False) -> None:
        """Give the files their final names and close them.

        Args:
            sync: syncs the files, if that is wanted; it is called before, and the folder is synced after.
            reading: whether :meth:`readers` is called afterwards.

        Raises:
            FaroError: ``io``; if not all files have their final names then, none has.
        """
        if sync:
            sync()
        if reading:
            # Before they are named: another writer may replace them as soon as they are.
            self._readers = [file.reader() for file in self._files]
        if not self._follow:
            try:
                self._name()
            except BaseException:
                self._readers = []
                if not all(file.published for file in self._files):
                    self._take_back(self._files)
                raise
        if sync:
            sync_folder(self.index.place)
        # Only now, because a closed file looks like one of a dead writer.
        for file in self._files:
            try:
                file.close()
            except OSError as fault:
                raise file.place.io(fault, "to close the file") from fault

    def readers(self) -> tuple[StoredFile, StoredFile | None]:
        """Return the published files for a reader: the index or single file, and the data file."""
        readers, self._readers = self._readers, []
        return readers[-1], readers[0] if self.paired else None

    def _name(self) -> None:
        if self._overwrite:
            if self.paired:
                locked(self._lock(), self._replace)
            else:
                self._replace()
            return
        # Both are cut before the first is published, so that no reader sees an output that is refused later.
        self.check_free()
        for file in self._files:
            if not file.link():
                locked(self._lock(), self._rename_free)
                return

    def _replace(self) -> None:
        for file in self._files:
            file.replace()

    def _rename_free(self) -> None:
        """Rename the files that have no final name yet, on a file system without hard links (PUB-3)."""
        rest = [file for file in self._files if not file.published]
        for file in rest:
            file.check_free()
        for file in rest:
            file.replace()

    def _take_back(self, files: Sequence[OutputFile]) -> None:
        """Remove the final names that belong to these files, as far as the system allows."""
        if not any(file.published for file in files):
            return

        def remove() -> None:
            # The index first: a pair without one is not an output.
            for file in reversed(files):
                file.remove_published()

        # If the lock cannot be taken, the file stays as it is (WRT-6).
        with contextlib.suppress(FaroError):
            locked(self._lock(), remove)

    def cut_tail(self) -> None:
        """Make followed files unfinished again; one that cannot be cut is removed (WRT-6)."""
        if self._follow:
            self._take_back([file for file in self._files if not file.cut_tail()])

    def discard(self) -> None:
        """Close and remove the files, at all their names. Files that cannot be removed stay."""
        self._readers = []
        for file in self._files:
            file.remove_temporary()
        self._take_back(self._files)
        self.close()
        for file in self._files:
            file.forget()

    def close(self) -> None:
        """Close the files, which keep their names."""
        for file in self._files:
            with contextlib.suppress(OSError):
                file.close()

    def drop(self, *, keep: bool) -> None:
        """Remove the files of a writer that was dropped, in the process that made them (WRT-6, WRT-11).

        Args:
            keep: whether followed files are kept, unfinished.
        """
        if self._process == os.getpid():
            if keep and self._follow:
                self.cut_tail()
            else:
                self.discard()
        self.close()

    def _lock(self) -> PublishingLock:
        return PublishingLock(self._base, self.data.place)
