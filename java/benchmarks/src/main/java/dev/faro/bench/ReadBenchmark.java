package dev.faro.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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

/** Reads a case that was written before, from the page cache. One shot is a round, as in {@link WriteBenchmark}. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
public class ReadBenchmark {
    private static final int RECORD_BYTES = 100;
    private static final int AT_ONCE = 64;

    /** {@code file} or {@code partition}. */
    @Param({"file", "partition"})
    public String order;

    /** The number of partitions. */
    @Param({"64", "1000", "10000"})
    public int partitions;

    /** The size of the writer's sort buffer in MiB. */
    @Param({"16", "128"})
    public int bufferMib;

    /** The codec. */
    @Param({"none", "lz4", "zstd"})
    public String codec;

    /** The plain data of a repetition in MiB. */
    @Param("64")
    public int plainMib;

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

    /** Writes the files, and makes the subjects. */
    @Setup(Level.Trial)
    public void open() throws Exception {
        writeCase = WriteBenchmark.make("text", RECORD_BYTES, partitions, bufferMib, codec, plainMib);
        Path at = Files.createDirectories(Path.of(folder));
        for (String name : subjects.split(",")) {
            opened.add(subject(name, order, writeCase, at));
        }
        rounds = new Rounds(opened, false);
    }

    /** A subject that reads a case. */
    static WriteSubject subject(String name, String order, WriteCase writeCase, Path folder) throws Exception {
        return switch (name) {
            case "faro" -> new FaroRead(writeCase, order.equals("partition"), folder);
            case "faro-scheduler" -> new FaroScheduled(writeCase, AT_ONCE, folder);
            case "flink" -> new FlinkRead(writeCase, folder);
            case "raw-pread" -> new RawRead(writeCase, false, folder);
            case "raw-pread-crc" -> new RawRead(writeCase, true, folder);
            default -> throw new IllegalArgumentException("no subject " + name);
        };
    }

    /** Records whether the next round counts. */
    @Setup(Level.Iteration)
    public void iteration(IterationParams params) {
        measured = params.getType() == IterationType.MEASUREMENT;
        System.gc();
    }

    /** A round. */
    @Benchmark
    public void round() throws Exception {
        rounds.run(measured);
    }

    /** Reports the results, and removes the files. */
    @TearDown(Level.Trial)
    public void close() throws IOException {
        ObjectNode name = writeCase.json().put("order", order);
        rounds.report("read", name, new Results(out.isEmpty() ? null : Path.of(out)));
        opened.forEach(WriteSubject::close);
        for (String extension : List.of("data", "index")) {
            Files.deleteIfExists(Path.of(folder, "faro." + extension));
        }
    }
}
