package dev.faro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The executor in examples/executor compiles without warnings, and does what it says. */
class EmbeddingTest {
    private static final Path SOURCES = Path.of("../../examples/executor");
    private static final long SECONDS = 60;

    @TempDir
    Path folder;

    private void compile(String classPath) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter output = new StringWriter();
        try (var found = Files.list(SOURCES);
                StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            List<Path> sources = found.filter(path -> path.toString().endsWith(".java")).toList();
            boolean compiled = compiler.getTask(output, files, null, List.of("-d", folder.resolve("classes").toString(),
                    "-cp", classPath, "--release", "17", "-Xlint:all,-classfile", "-Werror"), null,
                    files.getJavaFileObjectsFromPaths(sources)).call();
            assertTrue(compiled, output.toString());
        }
    }

    private String run(String classPath) throws Exception {
        Path printed = folder.resolve("printed");
        Process process = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                folder.resolve("classes") + System.getProperty("path.separator") + classPath, "Main",
                folder.resolve("data").toString()).redirectErrorStream(true).redirectOutput(printed.toFile()).start();
        try {
            assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS), () -> "it hangs after " + read(printed));
            assertEquals(0, process.exitValue(), () -> read(printed));
        } finally {
            process.destroyForcibly();
        }
        return read(printed);
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void theExecutorRunsAndItsResultIsThatOfTheModel() throws Exception {
        String classPath = System.getProperty("java.class.path");
        compile(classPath);
        String printed = run(classPath);
        for (String expected : List.of(
                "map-5\\.attempt-[12] lost to map-5\\.attempt-[12] and is removed",
                "map-0\\.attempt-1: [\\d,]+ bytes, [\\d,]+ regions, [1-9]\\d* spills",
                "reduce-2 was cancelled",
                "reduce-1 stopped: checksum in data file .*map-3\\.attempt-1\\.data at offset \\d+: .*",
                "map-3\\.attempt-1 has a fault of the family file: its map task runs again",
                "map-3\\.attempt-2 takes its place",
                "partition 1: [\\d,]+ rows, sum -?\\d+, as in the model",
                "memory: at most [\\d,]+ of [\\d,]+ bytes, refused [1-9]\\d* times, all given back; "
                        + "the folder is empty")) {
            long lines = printed.lines().filter(Pattern.compile(expected).asMatchPredicate()).count();
            assertEquals(1, lines, () -> "lines like " + expected + " in:\n" + printed);
        }
        assertEquals(3, printed.lines().filter(line -> line.endsWith("as in the model")).count(), printed);
    }
}
