"""Writing what is to leave the memory, a region at a time."""

from __future__ import annotations

from faro_format._error import FaroError, Place
from faro_format._follow.follower import Follower
from faro_format._storage.stored_output import StoredOutput
from faro_format.hybrid._full_files import FullFiles
from faro_format.hybrid._image import Image
from faro_format.hybrid._memory import Resident
from faro_format.hybrid._selective_files import SelectiveFiles


class Spiller(Resident):
    """A store as the memory sees it."""

    def __init__(self, image: Image, files: FullFiles | SelectiveFiles) -> None:
        """Begin with an image without a region."""
        self._image = image
        self._files = files
        self._reader: Follower | None = None

    def follower(self) -> Follower | None:
        """Return the reader of the committed regions; None before the first."""
        if self._reader is None and self._image.index.size and self._image.data.size:
            self._reader = Follower._of_stored(StoredOutput.paired(self._image.data, self._image.index))
        return self._reader

    @property
    def staying(self) -> int:
        """The bytes in memory that are not about to leave."""
        return self._image.staying

    @property
    def is_read(self) -> bool:
        """Whether a consumer is open."""
        return self._image.consumers > 0

    def give_up(self, *, newest: bool) -> bool:
        """Decide that the newest or oldest region that may leave leaves; False if none may."""
        return self._image.give_up(newest=newest)

    def spill(self) -> None:
        """Write what is about to leave. The store remembers a failure."""
        try:
            self._write()
        except FaroError as fault:
            self._image.fail(fault)
        except OSError as fault:
            self._fail(fault)
        except BaseException:
            # As KeyboardInterrupt: nothing says how much of the region is in the files.
            self._fail(InterruptedError("it was interrupted"))
            raise

    def _fail(self, cause: OSError) -> None:
        self._image.fail(Place("data", self._image.data.name).io(cause, "to spill"))

    def _write(self) -> None:
        while (region := self._image.take()) is not None:
            if isinstance(self._files, FullFiles):
                self._files.write(self._image, region)
            elif (reader := self.follower()) is not None:
                self._files.write(self._image, region, reader)

    def finish_full(self) -> None:
        """Finish the files of a full store, when the image has its footer; do nothing for a selective one.

        Raises:
            FaroError: the store has failed.
        """
        if isinstance(self._files, FullFiles):
            self._image.want_all()
            self.spill()
            self._image.check_usable()
            try:
                self._files.finish(self._image)
            except FaroError as fault:
                self._image.fail(fault)
                raise
            except BaseException:
                self._fail(InterruptedError("it was interrupted"))
                raise

    def ends_files(self) -> bool:
        """Whether the files of a finished store are complete; those of a selective store are finished here."""
        if self._image.failure is not None:
            return False
        if isinstance(self._files, FullFiles):
            return True
        if not self._image.is_complete:
            return False
        try:
            self._files.finish(self._image)
        except FaroError:
            # Nothing is lost: no consumer waits for it.
            return False
        return True
