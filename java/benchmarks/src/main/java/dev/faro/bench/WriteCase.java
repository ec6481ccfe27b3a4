package dev.faro.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.codec.Codec;
import java.util.Locale;

/**
 * A case to write: the data, the number of partitions, and the size of the sort buffer.
 *
 * @param data {@code text}, {@code skewed} or {@code lineitem}
 * @param recordBytes the size of each record; 0 if they differ
 * @param bufferMib the size of the sort buffer in MiB
 * @param records the number of records of {@code source} to write, taken in turn
 */
public record WriteCase(
        String data, int recordBytes, int partitions, int bufferMib, Codec codec, Records source, long records) {

    /** The plain size of all records in bytes, with 4 bytes for each length. */
    public long plainBytes() {
        return source.plainBytes(records);
    }

    /** The partition of the next record. */
    public int partition(SplitMix numbers) {
        return data.equals("skewed") ? numbers.skewedBelow(partitions) : numbers.below(partitions);
    }

    /** The random numbers for the partitions of a repetition. */
    public static SplitMix partitionNumbers() {
        return new SplitMix(2);
    }

    /** The JSON object that identifies the case. */
    public ObjectNode json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("data", data);
        if (recordBytes > 0) {
            json.put("record_bytes", recordBytes);
        }
        return json.put("partitions", partitions)
                .put("buffer_mib", bufferMib)
                .put("codec", codec.name().toLowerCase(Locale.ROOT))
                .put("plain_bytes", plainBytes());
    }
}
