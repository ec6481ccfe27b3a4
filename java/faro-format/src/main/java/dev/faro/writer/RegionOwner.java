package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;

/** What a region writer needs of the writer that its region belongs to. */
interface RegionOwner {
    /** The header of the index or single file. */
    FileHeader header();

    /** Count of the dictionaries, also of those that wait for a region. */
    int dictionaryCount();

    /** Refuses a call if the writer failed or ended. */
    void checkUsable() throws FaroException;

    /** Whether the writer takes calls. */
    boolean isUsable();

    /** Makes a step; what it throws fails the writer. */
    void guard(Step step) throws FaroException;

    /** Commits the region (WRT-5). */
    void commit() throws FaroException;

    /** Takes the region back. */
    void giveUp() throws FaroException;

    /** The region was ended or given up. */
    void closed();
}
