"""The files of a full store: the image itself, byte for byte (HYB-4)."""

from __future__ import annotations

from faro_format._storage.output_file import OutputFile
from faro_format.hybrid._image import Image, ImageRegion
from faro_format.hybrid._parts import SAME


class FullFiles:
    """A data and an index file, which are made when the first region is written."""

    def __init__(self, data: str, index: str, *, replacing: bool) -> None:
        """Name the files.

        Args:
            data: the path of the data file.
            index: the path of the index file.
            replacing: whether they may replace others.
        """
        self._data = OutputFile(data, "data", None)
        self._index = OutputFile(index, "index", None)
        self._replacing = replacing
        self._made = False

    def _make(self, image: Image) -> None:
        if not self._made:
            self._made = True
            self._data.create(replacing=self._replacing)
            self._index.create(replacing=self._replacing)
            self._data.append([image.header])

    def write(self, image: Image, region: ImageRegion) -> None:
        """Write a region, and tell the image where it is."""
        self._make(image)
        if not region.number:
            self._index.append(image.beginning)
        self._data.append(region.data.chunks or ())
        self._index.append(region.index.chunks or ())
        image.wrote(region, SAME, SAME, region.size)

    def finish(self, image: Image) -> None:
        """Write what is after the last region, and end the files. If that fails, remove them."""
        try:
            self._make(image)
            self._index.append(image.footer)
        except BaseException:
            self.remove()
            raise
        self._data.close()
        self._index.close()

    def remove(self) -> None:
        """Remove the files. The index goes first, because it is the commit."""
        if self._made:
            for file in (self._index, self._data):
                # What cannot be removed stays (WRT-6).
                file.remove_published()
                file.close()
