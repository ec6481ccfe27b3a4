package dev.faro.internal.storage;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * A finished file that its writer has not closed, but hands over to a reader, which closes it. It has neither a record
 * lock nor a claim any more.
 *
 * @param path the final name
 * @param key the identity of the file, or null if the system has none
 * @param channel open for reading and writing
 * @param beginning the first bytes of the file, at least its header, from 0 to the limit
 * @param isWhole whether these are all bytes of the file
 */
public record WrittenFile(Path path, Object key, FileChannel channel, ByteBuffer beginning, boolean isWhole) {}
