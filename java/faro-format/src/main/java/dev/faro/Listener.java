package dev.faro;

/**
 * Is told what writers and readers do. A call comes from the thread that made the library's call, when that call's work
 * is done. What a listener throws leaves that call, and changes nothing: what was written stays written.
 *
 * <pre>{@code
 * WriterOptions options = new WriterOptions(64).listener(new Listener() {
 *     @Override
 *     public void finished(String name, int regions, long bytes) {
 *         log.debug("{} has {} bytes", name, bytes);
 *     }
 * });
 * }</pre>
 */
public interface Listener {
    /**
     * A region was committed.
     *
     * @param name the name of the data file or single file
     * @param region the number of the region
     * @param bytes the size of its blocks in the file
     */
    default void regionWritten(String name, int region, long bytes) {}

    /**
     * An output was published.
     *
     * @param name the name of the data file or single file
     * @param regions the number of regions
     * @param bytes the size of all files
     */
    default void finished(String name, int regions, long bytes) {}

    /**
     * An output was opened: by a reader, a follower, an {@link dev.faro.reader.Opening}, or after it was written. The
     * reader is not returned if this throws an exception, except by an {@code Opening}.
     *
     * @param name the name of the data file or single file
     * @param regions the number of regions; a follower has none yet
     * @param bytes the size of all files
     */
    default void opened(String name, int regions, long bytes) {}

    /** A writer failed, or a reader found a fault, at a cursor once. The same error is thrown after this. */
    default void fault(FaroException fault) {}
}
