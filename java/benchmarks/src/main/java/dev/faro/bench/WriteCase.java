package dev.faro.bench;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.faro.codec.Codec;
import java.util.Locale;

/**
 * What is written: which data, by how many partitions, through how large a sort buffer.
 *
 * @param data {@code text}, {@code skewed} or {@code lineitem}
 * @param recordBytes of each record; 0 if they differ
 * @param bufferMib size of the sort buffer in MiB
 * @param records how many records of {@code source} are written, round and round
 */
public record WriteCase(
        String data, int recordBytes, int partitions, int bufferMib, Codec codec, Records source, long records) {

    /** Plain bytes of all records, 4 counted for each. */
    public long plainBytes() {
        return source.plainBytes(records);
    }

    /** The partition of the next record. */
    public int partition(SplitMix numbers) {
        return data.equals("skewed") ? numbers.skewedBelow(partitions) : numbers.below(partitions);
    }

    /** The numbers that the partitions of a repetition are drawn from. */
    public static SplitMix partitionNumbers() {
        return new SplitMix(2);
    }

    /** The object that names the case. */
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
