package dev.faro.spark;

import dev.faro.FaroException;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.SparkSession;

/** A Spark application in this JVM, with Faro's shuffle or with Spark's own. One at a time. */
final class TestSession implements AutoCloseable {
    static final Path LOCAL = Path.of(System.getenv("SPARK_LOCAL_DIRS"));

    private final SparkSession session;
    private final JavaSparkContext context;
    /** Indexes of outputs that applications left, or that executors which are ending have not removed yet. */
    private final Set<Path> before;

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
        this.before = Set.copyOf(faroIndexes(files(LOCAL)));
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
        List<Path> files = files(LOCAL);
        List<Output> found = new ArrayList<>();
        for (Path index : faroIndexes(files)) {
            if (!before.contains(index)) {
                String data = index.getFileName().toString().replace(".index", ".data");
                // One folder for each application or executor, and below it one for each hash of names.
                Path own = index.getParent().getParent();
                Optional<Path> beside =
                        files.stream().filter(file -> file.startsWith(own) && file.endsWith(data)).findAny();
                // An executor that ends removes one after the other.
                if (beside.isPresent() || Files.exists(index)) {
                    found.add(new Output(beside.orElseThrow(), index));
                }
            }
        }
        return found;
    }

    private static List<Path> faroIndexes(List<Path> files) {
        return files.stream().filter(file -> file.toString().endsWith(".index") && isFaro(file)).toList();
    }

    private static boolean isFaro(Path index) {
        try {
            return new String(Files.readAllBytes(index), StandardCharsets.ISO_8859_1).startsWith("FARO", 1);
        } catch (NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The files below a folder. An executor that ends may remove its own meanwhile. */
    static List<Path> files(Path folder) {
        List<Path> found = new ArrayList<>();
        try {
            Files.walkFileTree(folder, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    found.add(file);
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                    return unlessRemoved(failure);
                }

                @Override
                public FileVisitResult postVisitDirectory(Path visited, IOException failure) throws IOException {
                    return unlessRemoved(failure);
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }

    private static FileVisitResult unlessRemoved(IOException failure) throws IOException {
        if (failure != null && !(failure instanceof NoSuchFileException)) {
            throw failure;
        }
        return FileVisitResult.CONTINUE;
    }

    @Override
    public void close() {
        session.stop();
        SparkSession.clearActiveSession();
        SparkSession.clearDefaultSession();
    }
}
