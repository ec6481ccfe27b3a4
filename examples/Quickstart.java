import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

class Quickstart {
    public static void main(String[] args) throws Exception {
        try (var reader = Reader.openPair(Path.of("orders.data"), Path.of("orders.index"), ReaderOptions.DEFAULT);
                var records = reader.records(7)) {
            while (records.next()) {
                System.out.println(StandardCharsets.UTF_8.decode(records.record()));
            }
        }
    }
}
