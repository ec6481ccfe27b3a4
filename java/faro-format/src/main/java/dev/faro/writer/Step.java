package dev.faro.writer;

import dev.faro.FaroException;

/** A step of a writer that may fail it. */
interface Step {
    void run() throws FaroException;
}
