package dev.faro;

import java.nio.ByteBuffer;

/**
 * Supplies a scheduler or a writer with memory, for example from an engine's own pool. Safe to share between threads.
 *
 * <p>A scheduler reads into the buffers. A writer copies sorted records to them, 256 KiB at a time, and keeps them there
 * until a region ends ({@link dev.faro.writer.WriterOptions#buffers}). A longer record needs a buffer of its size and 40
 * bytes; else writing it fails with {@code io}, however often it is tried. With framing opaque it may be in several.
 */
public interface Buffers {
    /**
     * Returns a buffer that has no other user until it is given back: a direct one for a scheduler, any for a writer.
     * Its position is 0. It may be smaller than wanted; a scheduler then takes more of them. In a scheduler, an exception
     * ends the reading that needs the memory. So does a buffer that cannot be read into: one of 0 bytes, a read-only
     * one, or one that is not direct. In a writer, the call fails.
     *
     * @param wanted the number of bytes that would be used
     * @return null if there is no buffer now. {@link dev.faro.scheduler.Scheduler#wake} must be called when there may
     *     be one; a writer ends its region and gives its buffers back
     */
    ByteBuffer take(int wanted);

    /**
     * Receives a buffer from {@link #take} that is not needed any more: the same object, once, with any position and
     * limit. An exception is thrown by the call that gave the buffer back, and ends no reading.
     */
    void giveBack(ByteBuffer buffer);
}
