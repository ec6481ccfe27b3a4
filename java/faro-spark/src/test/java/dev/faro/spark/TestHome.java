package dev.faro.spark;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What executors in processes of their own are started from: a Spark of the jars on the test's class path. */
final class TestHome {
    private TestHome() {}

    static void make() throws IOException {
        Path jars = Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
        // Those of another version of Spark, from an earlier run.
        try (Stream<Path> before = Files.list(jars)) {
            for (Path link : (Iterable<Path>) before::iterator) {
                Files.delete(link);
            }
        }
        for (String entry : classPath()) {
            Path jar = Path.of(entry);
            Path link = jars.resolve(jar.getFileName());
            if (entry.endsWith(".jar") && !Files.exists(link)) {
                Files.createSymbolicLink(link, jar);
            }
        }
    }

    private static String[] classPath() {
        return System.getProperty("java.class.path").split(File.pathSeparator);
    }

    /** The settings that an executor needs besides its job's. */
    static Map<String, String> settings() {
        String folders = Arrays.stream(classPath()).filter(entry -> !entry.endsWith(".jar"))
                .collect(Collectors.joining(File.pathSeparator));
        return Map.of("spark.executor.extraJavaOptions", String.join(" ", options()),
                "spark.executor.extraClassPath", folders);
    }

    /** What Spark 3.5 asks of a JVM 17. */
    static List<String> options() {
        return Stream.of("java.lang", "java.lang.invoke", "java.util", "java.nio", "java.util.concurrent", "java.net",
                "sun.nio.ch", "sun.util.calendar").map(room -> "--add-opens=java.base/" + room + "=ALL-UNNAMED").toList();
    }
}
