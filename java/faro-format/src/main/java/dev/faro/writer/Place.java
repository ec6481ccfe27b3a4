package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileRole;
import dev.faro.internal.storage.OutputName;
import dev.faro.storage.Destination;
import java.nio.file.Path;
import java.util.List;

/** Where an output is to be written: makes its files as soon as the layout is known. */
interface Place {
    /**
     * Makes the files, empty.
     *
     * @param header the header of the index file or single file
     */
    OutputFiles create(Layout layout, FileHeader header, WriterOptions options) throws FaroException;

    /** Refuses a place where no output of either layout can be made, if that is known already (WRT-13). */
    default void checkFree() throws FaroException {}

    /** Local files with these names: data and index, or the single file. */
    static Place of(List<Path> paths) {
        return (layout, header, options) -> LocalFiles.create(paths, List.of(), header, options);
    }

    /** Files in a storage. */
    record InStorage(Destination destination) implements Place {
        @Override
        public OutputFiles create(Layout layout, FileHeader header, WriterOptions options) throws FaroException {
            return StorageFiles.create(destination, layout, options);
        }

        @Override
        public void checkFree() throws FaroException {
            StorageFiles.checkFree(destination, FileRole.OF_OUTPUTS);
        }
    }

    /** Local files with a NAME, of a layout that is decided later. */
    record Undecided(OutputName name) implements Place {
        @Override
        public OutputFiles create(Layout layout, FileHeader header, WriterOptions options) throws FaroException {
            boolean single = layout == Layout.SINGLE;
            List<Path> others = name.files(!single);
            if (!single) {
                // A single file is published at once, which looks at all names.
                LocalFiles.checkFree(others);
            }
            return LocalFiles.create(name.files(single), others, header, options);
        }

        @Override
        public void checkFree() throws FaroException {
            LocalFiles.checkFree(name.files(false));
            LocalFiles.checkFree(name.files(true));
        }
    }
}
