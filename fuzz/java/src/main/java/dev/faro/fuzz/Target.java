package dev.faro.fuzz;

import java.io.IOException;

/** One target of TARGETS.md. */
interface Target {
    /**
     * Runs the target on an input.
     *
     * @param folder for the files of the target; empty at first
     * @throws Broken if a property does not hold
     * @throws IOException if the folder cannot be used, which is a fault of the machine
     */
    void run(byte[] input, Folder folder, Transcript transcript) throws IOException;
}
