package dev.faro.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;

/** Runs a part of the benchmarks: each case in a new JVM, one after another. */
public final class Main {
    private Main() {}

    /** The cases of a part. */
    interface Part {
        /** The selected runs, without the settings that all runs share; files go into a folder. */
        List<ChainedOptionsBuilder> runs(Arguments arguments, Path folder) throws IOException;
    }

    private static Part part(String name) throws Arguments.Wrong {
        return switch (name) {
            case "write" -> WriteCases::runs;
            case "read" -> ReadCases::runs;
            case "scheduler" -> SchedulerCases::runs;
            case "merge" -> MergeCases::runs;
            case "tiny-outputs" -> TinyOutputsCases::runs;
            case "growth" -> GrowthCases::runs;
            default -> throw new Arguments.Wrong("no part " + name + " in Java");
        };
    }

    /** Exits with 0, with 1 if something failed, with 2 for wrong usage. */
    public static void main(String[] args) {
        try {
            Arguments arguments = Arguments.parse(args);
            run(part(arguments.part()), arguments);
        } catch (Arguments.Wrong e) {
            System.err.println(e.getMessage());
            System.exit(2);
        } catch (RunnerException | IOException | RuntimeException e) {
            e.printStackTrace();
            System.exit(1);
        }
    }

    private static void run(Part part, Arguments arguments) throws IOException, RunnerException {
        Path folder = Files.createTempDirectory(Files.createDirectories(arguments.dir()), "faro-java-");
        Thread atExit = new Thread(() -> {
            ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
            remove(folder);
        });
        // A signal also ends the measuring JVM, and leaves nothing.
        Runtime.getRuntime().addShutdownHook(atExit);
        for (ChainedOptionsBuilder run : part.runs(arguments, folder)) {
            run.forks(1)
                    .warmupIterations(2)
                    .measurementIterations(arguments.repetitions())
                    .shouldFailOnError(true)
                    .jvmArgs("-Xms2g", "-Xmx2g", "-Djmh.ignoreLock=true");
            new Runner(run.build()).run();
        }
    }

    private static void remove(Path folder) {
        try (var files = Files.walk(folder)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
