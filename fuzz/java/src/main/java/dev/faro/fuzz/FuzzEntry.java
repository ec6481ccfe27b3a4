package dev.faro.fuzz;

import java.io.IOException;
import java.util.Arrays;

/** The class that Jazzer calls. The system property {@code faro.fuzz.target} names the target. */
public final class FuzzEntry {
    private static final String TARGET = System.getProperty("faro.fuzz.target", "open");
    /** One of this many inputs is run twice, which costs as much as another input. */
    private static final int TWICE = 16;
    private static Folder folder;

    private FuzzEntry() {}

    /**
     * Makes the folder for the files, which is removed with the process, and runs the target once: loading and
     * instrumenting classes takes seconds that must not count for the first input.
     */
    public static void fuzzerInitialize() throws IOException {
        folder = new Folder();
        Targets.run(TARGET, new byte[0], folder);
        Runtime.getRuntime().addShutdownHook(new Thread(folder::close));
    }

    /** Runs one input. */
    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (Math.floorMod(Arrays.hashCode(input), TWICE) == 0) {
            Targets.runTwice(TARGET, input, folder);
        } else {
            Targets.run(TARGET, input, folder);
        }
    }
}
