package dev.faro.testing;

import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.reader.RecordCursor;
import dev.faro.writer.Finished;
import dev.faro.writer.Layout;
import dev.faro.writer.Writer;
import dev.faro.writer.WriterOptions;
import java.nio.file.Files;
import java.nio.file.Path;

/** A program that writes, reads and removes tiny outputs, for a tool that counts its system calls. */
public final class TinyOutputs {
    /** The beginning of the name of a file that is looked for, in vain, before each output. */
    public static final String MARK = "mark-of-output-";

    private TinyOutputs() {}

    /** Takes a folder, a layout and the number of outputs. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        WriterOptions options = new WriterOptions(2).layout(Layout.valueOf(arguments[1]));
        int count = Integer.parseInt(arguments[2]);
        for (int i = 0; i < count; i++) {
            Files.exists(folder.resolve(MARK + i));
            one(folder.resolve("output" + i), options);
        }
        Files.exists(folder.resolve(MARK + count));
    }

    private static void one(Path name, WriterOptions options) throws Exception {
        try (Writer writer = Writer.create(name, options)) {
            writer.write(0, Outputs.bytes("x".repeat(50)));
            writer.write(1, Outputs.bytes("y".repeat(50)));
            Finished finished = writer.finishAndOpen(ReaderOptions.DEFAULT);
            try (Reader reader = finished.reader()) {
                for (int partition = 0; partition < 2; partition++) {
                    read(reader, partition);
                }
            }
            for (Path file : finished.summary().files()) {
                // Files.delete looks at the file first.
                if (!file.toFile().delete()) {
                    throw new IllegalStateException(file + " was not removed");
                }
            }
        }
    }

    private static void read(Reader reader, int partition) throws Exception {
        try (RecordCursor records = reader.records(partition)) {
            if (!records.next() || records.record().remaining() != 50 || records.next()) {
                throw new IllegalStateException("a wrong record of partition " + partition);
            }
        }
    }
}
