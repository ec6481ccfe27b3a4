package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;

/** The methods of a writer that its region writer calls. */
interface RegionOwner {
    /** The header of the index file or single file. */
    FileHeader header();

    /** The number of dictionaries, also of those that are not written yet. */
    int dictionaryCount();

    /** Refuses a call if the writer failed or ended. */
    void checkUsable() throws FaroException;

    /** Whether the writer accepts calls. */
    boolean isUsable();

    /** Makes a step. If the step throws an exception, the writer fails. */
    void guard(Step step) throws FaroException;

    /** Commits the region (WRT-5). */
    void commit() throws FaroException;

    /** Removes the region. */
    void giveUp() throws FaroException;

    /** Called when the region was ended or given up. */
    void closed();
}
