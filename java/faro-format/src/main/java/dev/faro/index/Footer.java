package dev.faro.index;

import java.util.Map;

/**
 * What the footer states about an output, except where its regions are (FTR).
 *
 * @param dataSize the size of the data file in bytes; in a single file, the offset of the footer block
 * @param statistics the statistics, or null if the writer kept none
 * @param streams the streams of a file with the reader feature {@code selective}; null in other files, and if it is not
 *     known how many blocks they had, as after a repair
 * @param properties in the order of the bytes of their keys; immutable
 * @param createdBy the program that wrote the output, or null
 */
public record Footer(
        long dataSize, Statistics statistics, Streams streams, Map<String, String> properties, String createdBy) {}
