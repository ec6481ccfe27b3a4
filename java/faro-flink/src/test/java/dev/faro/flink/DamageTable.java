package dev.faro.flink;

import dev.faro.flink.DamagedRun.Ending;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.runtime.util.EnvironmentInformation;

/** Applies every damage to Flink's own files and to Faro's, and writes how the jobs ended to the page of damage. */
final class DamageTable {
    static final Path PAGE = Path.of("../../docs/flink-damage.md");

    private DamageTable() {}

    /** The rows of the table for a damage: one for each codec, if the codec matters. */
    static List<Boolean> compressions(Damage damage) {
        return damage.isOfBytes() ? List.of(true, false) : List.of(true);
    }

    /** The text of an ending on the page. */
    static String text(Ending ending) {
        if (ending instanceof Ending.Finished finished) {
            String result = finished.right() ? "right result" : "**wrong result**, no error";
            return finished.producers() == 1 ? result : result + ", the producer ran again";
        }
        if (ending instanceof Ending.Failed failed) {
            String reason = failed.cause().getClass().getSimpleName();
            return "job failed after " + failed.restarts() + " restarts: " + reason;
        }
        boolean active = ending instanceof Ending.Endless endless && endless.active();
        return "**no end**, " + (active ? "the consumer reads on" : "the consumer was cancelled");
    }

    /** Faro's column in the page's table for this Flink, by the first three columns. */
    static Map<String, String> rowsOfPage() throws IOException {
        Map<String, String> rows = new LinkedHashMap<>();
        Matcher section = section(Files.readString(PAGE));
        section.group(2).lines().filter(line -> line.startsWith("| ")).skip(1).forEach(line -> {
            String[] cells = line.substring(2, line.length() - 2).split(" \\| ");
            rows.put(String.join(" | ", cells[0], cells[1], cells[2]), cells[4]);
        });
        return rows;
    }

    static String row(DamagedRun run) {
        return String.join(" | ", run.damage().title(), codec(run), run.local() ? "local" : "remote");
    }

    private static String codec(DamagedRun run) {
        return run.compressed() ? "LZ4" : "none";
    }

    private static Matcher section(String page) {
        String heading = "## Flink " + EnvironmentInformation.getVersion() + "\n";
        Matcher section = Pattern.compile("(" + Pattern.quote(heading) + ")(.*?)(?=\n## |\\z)", Pattern.DOTALL)
                .matcher(page);
        if (!section.find()) {
            throw new IllegalStateException("expected in " + PAGE + " the heading " + heading);
        }
        return section;
    }

    /** Makes the table again. With arguments, makes one run and prints its text. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            DamagedRun run = new DamagedRun(Shuffle.valueOf(arguments[0]), Damage.valueOf(arguments[1]),
                    Boolean.parseBoolean(arguments[2]), Boolean.parseBoolean(arguments[3]));
            System.out.println(text(run.run(Path.of(arguments[4]), Map.of())));
            // Tasks that read without end may be left.
            Runtime.getRuntime().halt(0);
        }
        StringBuilder table = new StringBuilder("\n| damage | compression | consumer | Flink's own shuffle | Faro |\n"
                + "|---|---|---|---|---|\n");
        for (Damage damage : Damage.values()) {
            for (boolean compressed : compressions(damage)) {
                for (boolean local : List.of(true, false)) {
                    List<String> endings = new ArrayList<>();
                    for (Shuffle shuffle : Shuffle.values()) {
                        endings.add(runApart(new DamagedRun(shuffle, damage, compressed, local)));
                    }
                    String row = "| " + row(new DamagedRun(Shuffle.FARO, damage, compressed, local)) + " | "
                            + String.join(" | ", endings) + " |\n";
                    System.out.print(row);
                    table.append(row);
                }
            }
        }
        String page = Files.readString(PAGE);
        Matcher section = section(page);
        Files.writeString(PAGE, page.substring(0, section.end(1)) + table + page.substring(section.end()));
    }

    /** Makes a run in a separate process, because a run without end would slow down the following ones. */
    private static String runApart(DamagedRun run) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("faro-flink-damage");
        try {
            List<String> command = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElse("java"),
                    "-Xmx1g", "-XX:MaxDirectMemorySize=1g", "--add-opens=java.base/java.lang=ALL-UNNAMED",
                    "--add-opens=java.base/java.util=ALL-UNNAMED", "--add-opens=java.base/java.time=ALL-UNNAMED",
                    "-classpath", System.getProperty("java.class.path"), DamageTable.class.getName()));
            command.addAll(List.of(run.shuffle().name(), run.damage().name(), Boolean.toString(run.compressed()),
                    Boolean.toString(run.local()), folder.toString()));
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            String printed;
            try (Stream<String> lines = process.inputReader().lines()) {
                printed = lines.collect(Collectors.joining("\n"));
            }
            if (process.waitFor() != 0) {
                throw new IOException(run + " ended with " + process.exitValue());
            }
            return printed;
        } finally {
            remove(folder);
        }
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
