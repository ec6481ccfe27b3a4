package dev.faro.hybrid;

import dev.faro.FaroException;
import dev.faro.storage.StoredFile;
import java.io.IOException;

/** The files of a store, which the first spill makes. One thread at a time writes; any number reads. */
interface SpillFiles {
    /** Writes a region, and tells the image where it is. */
    void write(Image image, ImageRegion region) throws FaroException;

    /** The data file, for readers. */
    StoredFile data() throws IOException;

    /** The index file, for readers. */
    StoredFile index() throws IOException;

    /** Removes the files, or what there is of them, and closes them. It never fails. */
    void remove();
}
