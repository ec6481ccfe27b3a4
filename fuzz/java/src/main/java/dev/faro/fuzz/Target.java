package dev.faro.fuzz;

import java.io.IOException;

/** One target of TARGETS.md. */
interface Target {
    /**
     * Does with an input what the target does.
     *
     * @param folder where its files go; empty at first
     * @throws Broken if a property does not hold
     * @throws IOException if the folder cannot be used; a fault of the machine
     */
    void run(byte[] input, Folder folder, Transcript transcript) throws IOException;
}
