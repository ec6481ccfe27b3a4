package dev.faro.spark;

import dev.faro.FaroException;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/** A Spark application in this JVM, with Faro's shuffle or with Spark's own. One at a time. */
final class TestSession implements AutoCloseable {
    static final Path LOCAL = Path.of(System.getenv("SPARK_LOCAL_DIRS"));

    private final SparkSession session;
    private final JavaSparkContext context;
    /** The outputs of applications that have ended, if they left any. */
    private final Set<Output> before;

    private TestSession(String master, Path folder, Map<String, String> settings) {
        SparkConf conf = new SparkConf(false).setMaster(master).setAppName("faro").set("spark.ui.enabled", "false")
                .set("spark.driver.host", "127.0.0.1")
                .set("spark.driver.bindAddress", "127.0.0.1").set("spark.sql.shuffle.partitions", "7")
                .set("spark.sql.warehouse.dir", folder.resolve("warehouse").toString());
        settings.forEach(conf::set);
        try {
            Files.createDirectories(LOCAL);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.before = Set.copyOf(outputs(Set.of()));
        this.session = SparkSession.builder().config(conf).getOrCreate();
        this.context = JavaSparkContext.fromSparkContext(session.sparkContext());
    }

    static TestSession stock(Path folder, Map<String, String> settings) {
        return new TestSession("local[2]", folder, settings);
    }

    static TestSession faro(Path folder, Map<String, String> settings) {
        return faro("local[2]", folder, settings);
    }

    static TestSession faro(String master, Path folder, Map<String, String> settings) {
        Map<String, String> all = new HashMap<>(settings);
        all.put("spark.shuffle.manager", FaroShuffleManager.class.getName());
        return new TestSession(master, folder, all);
    }

    /** On any cluster, with the shuffle that the settings say. */
    static TestSession on(String master, Path folder, Map<String, String> settings) {
        return new TestSession(master, folder, settings);
    }

    /** The result of a job with Spark's own shuffle. */
    static <T> T expected(Path folder, Map<String, String> settings, Function<TestSession, T> job) {
        try (TestSession stock = stock(folder, settings)) {
            return job.apply(stock);
        }
    }

    SparkSession sql() {
        return session;
    }

    JavaSparkContext rdds() {
        return context;
    }

    /** The files of an output. Spark puts them into different folders. */
    record Output(Path data, Path index) {
        Reader open() throws FaroException {
            return Reader.openPair(data, index, ReaderOptions.DEFAULT);
        }
    }

    /** The Faro outputs that are there now. */
    List<Output> outputs() {
        return outputs(before);
    }

    private static List<Output> outputs(Set<Output> before) {
        try (Stream<Path> walk = Files.walk(LOCAL)) {
            List<Path> files = walk.filter(Files::isRegularFile).toList();
            List<Output> found = new ArrayList<>();
            for (Path index : files) {
                if (isFaroIndex(index)) {
                    String data = index.getFileName().toString().replace(".index", ".data");
                    // One folder for each application or executor, and below it one for each hash of names.
                    Path own = index.getParent().getParent();
                    found.add(new Output(files.stream().filter(file -> file.startsWith(own) && file.endsWith(data))
                            .findAny().orElseThrow(), index));
                }
            }
            found.removeAll(before);
            return found;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isFaroIndex(Path file) {
        try {
            return file.toString().endsWith(".index")
                    && new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).startsWith("FARO", 1);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        session.stop();
        SparkSession.clearActiveSession();
        SparkSession.clearDefaultSession();
    }
}
