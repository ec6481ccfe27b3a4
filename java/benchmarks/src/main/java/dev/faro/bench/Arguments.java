package dev.faro.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The arguments of the command line.
 *
 * @param part the part to measure
 * @param out the file to which results are appended
 * @param dir the folder for files
 * @param repetitions the number of measured repetitions
 * @param plainMib the plain data of a repetition in MiB
 * @param threads the number of threads of a case, if its part has it
 * @param lineitem the rows of TPC-H's table as text, or null
 * @param only keys and values that a case must have
 * @param subjects the subjects to measure; empty for all
 * @param quick whether to use tiny sizes, in parts with their own sizes
 */
public record Arguments(
        String part, Path out, Path dir, int repetitions, int plainMib, OptionalInt threads, Path lineitem,
        List<Map.Entry<String, String>> only, List<String> subjects, boolean quick) {

    /** The expected form of the command line. */
    static final String USAGE = "PART --out FILE --dir DIR [--repetitions N] [--plain-mib N] [--threads N]"
            + " [--case KEY=VALUE]... [--subject NAME]... [--lineitem FILE] [--quick]";

    /** Wrong usage. */
    static final class Wrong extends Exception {
        private static final long serialVersionUID = 1;

        Wrong(String message) {
            super(message, null, false, false);
        }
    }

    /** Parses a command line. */
    static Arguments parse(String[] args) throws Wrong {
        if (args.length == 0) {
            throw new Wrong(USAGE);
        }
        boolean quick = args[args.length - 1].equals("--quick");
        int end = quick ? args.length - 1 : args.length;
        if (end % 2 == 0) {
            throw new Wrong(USAGE);
        }
        Map<String, String> single = new LinkedHashMap<>();
        List<Map.Entry<String, String>> only = new ArrayList<>();
        List<String> subjects = new ArrayList<>();
        for (int i = 1; i < end; i += 2) {
            switch (args[i]) {
                case "--case" -> {
                    String[] pair = args[i + 1].split("=", 2);
                    if (pair.length < 2) {
                        throw new Wrong("--case needs KEY=VALUE");
                    }
                    only.add(Map.entry(pair[0], pair[1]));
                }
                case "--subject" -> subjects.add(args[i + 1]);
                case "--out", "--dir", "--repetitions", "--plain-mib", "--threads", "--lineitem" ->
                    single.put(args[i], args[i + 1]);
                default -> throw new Wrong(USAGE);
            }
        }
        if (!single.containsKey("--out") || !single.containsKey("--dir")) {
            throw new Wrong(USAGE);
        }
        String lineitem = single.get("--lineitem");
        String threads = single.get("--threads");
        return new Arguments(args[0], Path.of(single.get("--out")), Path.of(single.get("--dir")),
                positive(single.getOrDefault("--repetitions", "5")),
                positive(single.getOrDefault("--plain-mib", "1024")),
                threads == null ? OptionalInt.empty() : OptionalInt.of(positive(threads)),
                lineitem == null ? null : Path.of(lineitem), only, subjects, quick);
    }

    private static int positive(String text) throws Wrong {
        try {
            int value = Integer.parseInt(text);
            if (value > 0) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new Wrong("expected a number above 0, found " + text);
    }

    /** Whether a case is selected: it must have each selected key with its value. */
    public boolean wants(Map<String, String> which) {
        return only.stream().allMatch(pair -> pair.getValue().equals(which.get(pair.getKey())));
    }

    /** The selected subjects among some. */
    public List<String> chosen(List<String> all) {
        return subjects.isEmpty() ? all : all.stream().filter(subjects::contains).toList();
    }
}
