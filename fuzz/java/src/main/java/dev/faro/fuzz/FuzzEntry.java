package dev.faro.fuzz;

import java.io.IOException;
import java.util.Arrays;

/** What Jazzer calls; the system property {@code faro.fuzz.target} names the target. */
public final class FuzzEntry {
    private static final String TARGET = System.getProperty("faro.fuzz.target", "open");
    /** One input in so many is asked twice: it costs as much as another input. */
    private static final int TWICE = 16;
    private static Folder folder;

    private FuzzEntry() {}

    /**
     * Makes the folder for the files, which goes with the process, and runs the target once: loading and instrumenting
     * classes takes seconds that are not the first input's.
     */
    public static void fuzzerInitialize() throws IOException {
        folder = new Folder();
        Targets.run(TARGET, new byte[0], folder);
        Runtime.getRuntime().addShutdownHook(new Thread(folder::close));
    }

    /** One input. */
    public static void fuzzerTestOneInput(byte[] input) throws IOException {
        if (Math.floorMod(Arrays.hashCode(input), TWICE) == 0) {
            Targets.runTwice(TARGET, input, folder);
        } else {
            Targets.run(TARGET, input, folder);
        }
    }
}
