package dev.faro.index;

import java.util.Map;

/**
 * What the footer says of an output, besides where its regions are (FTR).
 *
 * @param dataSize size of the data file in bytes; in a single file, the footer block's offset
 * @param statistics or null if none were kept
 * @param properties in the order of their keys' bytes; unchangeable
 * @param createdBy the writing program, or null
 */
public record Footer(long dataSize, Statistics statistics, Map<String, String> properties, String createdBy) {}
