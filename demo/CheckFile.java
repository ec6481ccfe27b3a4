import dev.faro.FaroException;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.nio.file.Path;

/** Prints the result of the Java reader's check as JSON: code and offset of the first fault, or null. */
final class CheckFile {
    private CheckFile() {}

    /** Checks the output NAME at the deepest level. */
    public static void main(String[] args) throws Exception {
        try (Reader reader =
                Reader.openPair(Path.of(args[0] + ".data"), Path.of(args[0] + ".index"), ReaderOptions.DEFAULT)) {
            Check.check(reader, CheckLevel.DECODE);
            System.out.println("{\"code\": null, \"offset\": null}");
        } catch (FaroException fault) {
            System.out.println("{\"code\": \"" + fault.code() + "\", \"offset\": " + fault.offset() + "}");
        }
    }
}
