package dev.faro.writer;

import dev.faro.FaroException;

/** A step of a writer. If it throws an exception, the writer fails. */
interface Step {
    void run() throws FaroException;
}
