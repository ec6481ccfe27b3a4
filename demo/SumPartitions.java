import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import dev.faro.reader.RecordCursor;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Counts and sums of some partitions of packed lineitem, as lines: partition, rows, quantity and price in hundredths. */
final class SumPartitions {
    private SumPartitions() {}

    /** Reads partitions [from, to) of the output NAME. */
    public static void main(String[] args) throws Exception {
        try (Reader reader =
                Reader.openPair(Path.of(args[0] + ".data"), Path.of(args[0] + ".index"), ReaderOptions.DEFAULT)) {
            List<String> header = List.of(reader.footer().properties().get("faro.pack.header").split(","));
            int quantity = header.indexOf("l_quantity");
            int price = header.indexOf("l_extendedprice");
            for (int partition = Integer.parseInt(args[1]); partition < Integer.parseInt(args[2]); partition++) {
                long rows = 0;
                BigDecimal quantities = BigDecimal.ZERO;
                BigDecimal prices = BigDecimal.ZERO;
                try (RecordCursor records = reader.records(partition)) {
                    while (records.next()) {
                        // Only the last column is quoted, so the first ones can be split at commas.
                        String[] fields = StandardCharsets.UTF_8.decode(records.record()).toString().split(",", price + 2);
                        rows++;
                        quantities = quantities.add(new BigDecimal(fields[quantity]));
                        prices = prices.add(new BigDecimal(fields[price]));
                    }
                }
                System.out.println(partition + " " + rows + " " + hundredths(quantities) + " " + hundredths(prices));
            }
        }
    }

    private static long hundredths(BigDecimal sum) {
        return sum.movePointRight(2).longValueExact();
    }
}
