import dev.faro.FaroException;
import dev.faro.MemoryBudget;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.writer.Layout;
import dev.faro.writer.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What the driver knows of a finished output. The summary comes from the writer: no file is opened for it.
 *
 * @param spills how often the map task ended a region because its buffer was full or memory was refused
 */
record MapOutput(int map, int attempt, Summary summary, long spills) {
    /** The size in bytes of what a reduce task will read from this output. */
    long storedBytes(int partition) {
        return summary.statistics().stored(partition);
    }

    /** Opens the output; regions and dictionaries are kept as far as there is memory. */
    Reader open(MemoryBudget memory) throws FaroException {
        List<Path> files = summary.files();
        ReaderOptions options = ReaderOptions.DEFAULT.withMemoryBudget(memory);
        return summary.layout() == Layout.SINGLE ? Reader.openSingle(files.get(0), options)
                : Reader.openPair(files.get(0), files.get(1), options);
    }

    void remove() throws IOException {
        for (Path file : summary.files()) {
            Files.deleteIfExists(file);
        }
    }

    @Override
    public String toString() {
        return "map-" + map + ".attempt-" + attempt;
    }
}
