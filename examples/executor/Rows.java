import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/** The data of the example, and the result that it must have. */
final class Rows {
    static final int MAPS = 6;
    static final int PARTITIONS = 4;
    /** The largest record in bytes. */
    static final int MOST_BYTES = 150;
    private static final int ROWS_OF_A_MAP = 40_000;
    private static final int LEAST_BYTES = 50;

    private Rows() {}

    /** A row with a number of bytes that mean nothing. */
    record Row(long key, long value, int bytes) {
        int partition() {
            return (int) Long.remainderUnsigned(key, PARTITIONS);
        }

        /** The row as a record: key and value, each 8 bytes, little-endian, and the bytes that mean nothing. */
        ByteBuffer encode(ByteBuffer record) {
            return record.clear().order(ByteOrder.LITTLE_ENDIAN).putLong(0, key).putLong(8, value).limit(bytes);
        }
    }

    /** Takes rows. */
    interface Sink {
        void take(Row row) throws IOException;
    }

    /** Makes the rows of a map task, the same at each attempt. */
    static void ofMap(int map, Sink sink) throws IOException {
        SplittableRandom random = new SplittableRandom(map);
        for (int i = 0; i < ROWS_OF_A_MAP; i++) {
            sink.take(new Row(random.nextLong(), random.nextLong(), random.nextInt(LEAST_BYTES, MOST_BYTES + 1)));
        }
    }

    /** What a reduce task computes. */
    record Totals(long rows, long sum) {
        Totals plus(long value) {
            return new Totals(rows + 1, sum + value);
        }
    }

    /** The totals of each partition, computed without files. */
    static List<Totals> model() throws IOException {
        List<Totals> totals = new ArrayList<>(Collections.nCopies(PARTITIONS, new Totals(0, 0)));
        for (int map = 0; map < MAPS; map++) {
            ofMap(map, row -> totals.set(row.partition(), totals.get(row.partition()).plus(row.value())));
        }
        return totals;
    }
}
