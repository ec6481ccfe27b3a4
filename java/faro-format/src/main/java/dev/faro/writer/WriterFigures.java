package dev.faro.writer;

import dev.faro.internal.storage.OutputFile;

/**
 * What a writer has done so far. Times are 0 for what did not happen.
 *
 * @param records the records in regions that have ended, as the statistics count them (FTR-4): no events, and a record for
 *     several partitions once. A {@link RegionWriter}'s blocks have those that its caller says
 * @param regions the regions in the file
 * @param spills the regions that ended because a record did not fit into the sort buffer, or memory for it was refused;
 *     not those that the order of calls (SRT-4), a flush, or a record that is larger than the buffer ends
 * @param blocks the blocks of the regions
 * @param plainBytes the plain size of these blocks, events included, in bytes
 * @param storedBytes the size of their blocks in the file, in bytes
 * @param fileBytes what was appended to the files, in bytes
 * @param regionNanos the time for ending regions, all of it, in nanoseconds; of a {@link RegionWriter} that of its end
 * @param compressNanos the time for compression in nanoseconds; 0 without {@link WriterOptions#timed}
 * @param checksumNanos the time for checksums and headers in nanoseconds; 0 without {@link WriterOptions#timed}
 * @param writeNanos the time for appending to the files, in nanoseconds
 * @param syncNanos the time for syncing the files, in nanoseconds
 * @param memoryUsed as {@link Writer#memoryUsed}
 * @param memoryRefusals how often memory was refused
 */
public record WriterFigures(long records, long regions, long spills, long blocks, long plainBytes, long storedBytes,
        long fileBytes, long regionNanos, long compressNanos, long checksumNanos, long writeNanos, long syncNanos,
        long memoryUsed, long memoryRefusals) {
    /** Collects them; {@code output} is null until its layout is decided. */
    static WriterFigures of(Collector collector, WriterOutput output) {
        if (output == null) {
            return new WriterFigures(collector.records(), 0, collector.spills(), 0, 0, 0, 0, collector.regionNanos(), 0,
                    0, 0, 0, collector.memoryUsed(), collector.refusals());
        }
        RegionBuilder blocks = output.blocks();
        WriterRegions regions = output.regions();
        OutputFile data = output.data();
        OutputFile index = output.index();
        boolean pair = data != index;
        return new WriterFigures(collector.records() + regions.callersRecords(),
                output.committer().directory().size(), collector.spills(), blocks.blocks(), regions.plainBytes(),
                regions.storedBytes(), data.written() + (pair ? index.written() : 0),
                collector.regionNanos() + regions.callersNanos(), blocks.compressNanos(), blocks.checksumNanos(),
                data.writeNanos() + (pair ? index.writeNanos() : 0), data.syncNanos() + (pair ? index.syncNanos() : 0),
                collector.memoryUsed(), collector.refusals());
    }
}
