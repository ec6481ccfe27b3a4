package dev.faro.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.codec.Codec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.runner.IterationType;

/**
 * Writes a case. One shot is a whole round of all subjects, each with its own clock. With JMH's own way, one subject at
 * a time, minutes would pass between the subjects that are compared. JMH starts a new JVM for each case, and warms it
 * up.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class WriteBenchmark {
    /** The part that results belong to. */
    @Param("write")
    public String part;

    /** See {@link WriteCase}; for {@code lineitem}, a colon and the file follow. */
    @Param("text")
    public String data;

    /** The size of a record in bytes. */
    @Param("100")
    public int recordBytes;

    /** The number of partitions. */
    @Param({"64", "1000", "10000"})
    public int partitions;

    /** The size of the sort buffer in MiB. */
    @Param({"16", "128"})
    public int bufferMib;

    /** The codec. */
    @Param({"NONE", "LZ4", "ZSTD"})
    public String codec;

    /** The plain data of a repetition in MiB. */
    @Param("64")
    public int plainMib;

    /**
     * The quantity that grows in the part {@code growth}: {@code partitions}, {@code record_bytes} or {@code data_mib};
     * or empty.
     */
    @Param("")
    public String curve;

    /** The names of the subjects, separated by commas. */
    @Param("faro")
    public String subjects;

    /** The folder for files. */
    @Param("out/bench")
    public String folder;

    /** The file for results, or empty. */
    @Param("")
    public String out;

    private WriteCase writeCase;
    private Rounds rounds;
    private final List<WriteSubject> opened = new ArrayList<>();
    private boolean measured;

    /** Makes the records and the subjects. */
    @Setup(Level.Trial)
    public void open() throws Exception {
        writeCase = make(data, recordBytes, partitions, bufferMib, codec, plainMib);
        Path at = Files.createDirectories(Path.of(folder));
        for (String name : subjects.split(",")) {
            opened.add(subject(name, writeCase, at));
        }
        rounds = new Rounds(opened, true);
    }

    /** Makes the case for some parameters. */
    static WriteCase make(
            String data, int recordBytes, int partitions, int bufferMib, String codec, int plainMib)
            throws IOException {
        String[] named = data.split(":", 2);
        boolean lines = named.length > 1;
        Records source = lines ? Records.lines(Path.of(named[1])) : Records.text(recordBytes);
        long plain = (long) plainMib << 20;
        return new WriteCase(named[0], lines ? 0 : recordBytes, partitions, bufferMib,
                Codec.valueOf(codec.toUpperCase(Locale.ROOT)), source, source.countFor(plain));
    }

    /** A subject that writes a case into a folder. */
    static WriteSubject subject(String name, WriteCase writeCase, Path folder) throws Exception {
        return switch (name) {
            case "faro" -> new FaroWrite(writeCase, folder);
            case "faro-hybrid-full" -> new FaroHybridWrite(writeCase, folder, false);
            case "faro-hybrid-full-2-threads" -> new FaroHybridWrite(writeCase, folder, true);
            case "flink" -> new FlinkWrite(name, FlinkPeer.Kind.SORT, writeCase, 0, folder);
            // Flink uses up to 8 MiB of its buffer for writing; this subject gets them in addition.
            case "flink-8-more" -> new FlinkWrite(name, FlinkPeer.Kind.SORT, writeCase, 8 << 20, folder);
            case "flink-hash" -> new FlinkWrite(name, FlinkPeer.Kind.HASH, writeCase, 0, folder);
            case "codec" -> new CodecAlone(writeCase, folder);
            case "raw-write" -> new RawWrite(writeCase.plainBytes(), folder);
            default -> throw new IllegalArgumentException("no subject " + name);
        };
    }

    /** Records whether the next round counts. */
    @Setup(Level.Iteration)
    public void iteration(IterationParams params) {
        measured(params.getType() == IterationType.MEASUREMENT);
        System.gc();
    }

    void measured(boolean value) {
        measured = value;
    }

    /** A round. */
    @Benchmark
    public void round() throws Exception {
        rounds.run(measured);
    }

    private ObjectNode name() {
        ObjectNode json = writeCase.json();
        if (!curve.isEmpty()) {
            json.put("curve", curve).put("data_mib", plainMib);
        }
        return json;
    }

    /** Reports the results. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        rounds.report(part, name(), new Results(out.isEmpty() ? null : Path.of(out)));
        opened.forEach(WriteSubject::close);
    }
}
