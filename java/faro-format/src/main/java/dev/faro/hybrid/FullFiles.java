package dev.faro.hybrid;

import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.internal.storage.LocalOutputFile;
import dev.faro.internal.storage.OutputName;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The files of a full store: the image itself, byte for byte (HYB-4). */
final class FullFiles implements SpillFiles {
    private final Path dataPath;
    private final Path indexPath;
    private final ReadFile readData;
    private final ReadFile readIndex;
    private boolean replaces;
    private LocalOutputFile data;
    private LocalOutputFile index;

    FullFiles(OutputName name) {
        this.dataPath = name.file(FileRole.DATA);
        this.indexPath = name.file(FileRole.INDEX);
        this.readData = new ReadFile(dataPath);
        this.readIndex = new ReadFile(indexPath);
    }

    /** Says whether the files may replace others, before the first is written. */
    void replaces(boolean value) {
        replaces = value;
    }

    /** Makes the files, unless they were made. */
    void make() throws FaroException {
        if (data == null) {
            data = LocalOutputFile.create(FileRole.DATA, dataPath, replaces);
        }
        if (index == null) {
            index = LocalOutputFile.create(FileRole.INDEX, indexPath, replaces);
        }
    }

    @Override
    public void write(Image image, ImageRegion region) throws FaroException {
        make();
        if (region.number == 0) {
            append(data, image.header());
            append(index, image.beginning());
        }
        append(data, region.data.chunks());
        data.flush();
        append(index, region.index.chunks());
        index.flush();
        image.wrote(region, Location.SAME, Location.SAME, region.bytes());
    }

    private static void append(LocalOutputFile file, List<byte[]> chunks) throws FaroException {
        for (byte[] chunk : chunks) {
            int at = file.reserve(chunk.length);
            file.buffer().put(at, chunk);
            file.advance(chunk.length);
        }
    }

    /** Writes what is after the last region, and ends the files. If that fails, it removes them. */
    void finish(Image image) throws FaroException {
        try {
            make();
            if (data.position() == 0) {
                append(data, image.header());
            }
            data.flush();
            append(index, image.footer());
            index.flush();
            data.close();
            index.close();
        } catch (FaroException | RuntimeException | Error e) {
            remove();
            throw e;
        }
    }

    @Override
    public StoredFile data() throws IOException {
        return readData.get();
    }

    @Override
    public StoredFile index() throws IOException {
        return readIndex.get();
    }

    /** Closes what readers use. */
    void close() {
        readData.close();
        readIndex.close();
    }

    @Override
    public void remove() {
        close();
        // The index first, because it is the commit.
        remove(index, indexPath);
        remove(data, dataPath);
    }

    private static void remove(LocalOutputFile file, Path path) {
        if (file != null) {
            try {
                file.remove(path);
            } catch (IOException e) {
                // It stays, unfinished or as it was finished (WRT-6).
            }
            try {
                file.close();
            } catch (IOException e) {
                // The name is gone.
            }
        }
    }
}
