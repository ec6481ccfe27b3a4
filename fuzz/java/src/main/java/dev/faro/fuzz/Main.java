package dev.faro.fuzz;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The commands {@code verdicts CORPUS} and {@code transcript TARGET FILE} (VERDICTS.md). */
public final class Main {
    private Main() {}

    /** Prints the results of the targets. */
    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
        try (Folder folder = new Folder()) {
            if (arguments.length == 2 && arguments[0].equals("verdicts")) {
                for (String target : Targets.names()) {
                    for (Path entry : entries(Path.of(arguments[1]), target)) {
                        out.println(target + " " + entry.getFileName() + " " + verdict(target, entry, folder));
                    }
                }
            } else if (arguments.length == 3 && arguments[0].equals("transcript")) {
                out.print(Targets.run(arguments[1], Files.readAllBytes(Path.of(arguments[2])), folder));
            } else {
                System.err.println("verdicts CORPUS | transcript TARGET FILE");
                System.exit(2);
            }
        }
    }

    /** The inputs of a target, sorted by name; none if it has no folder. */
    static List<Path> entries(Path corpus, String target) throws IOException {
        Path folder = corpus.resolve(target);
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(Files::isRegularFile).sorted().toList();
        }
    }

    private static String verdict(String target, Path entry, Folder folder) throws IOException {
        try {
            return Targets.run(target, Files.readAllBytes(entry), folder).verdict();
        } catch (RuntimeException | Error e) {
            System.err.println(target + " " + entry.getFileName() + ": " + e);
            return "broken -";
        }
    }
}
