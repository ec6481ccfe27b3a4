package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.reader.Reader;
import java.io.IOException;

/** {@code open}: opens the files, and reads every region message. */
final class OpenTarget implements Target {
    @Override
    public void run(byte[] bytes, Folder folder, Transcript transcript) throws IOException {
        FilesInput input = FilesInput.of(bytes);
        input.write(folder);
        try (Reader reader = input.reader(folder)) {
            transcript.line("open", reader.regionCount());
            for (int i = 0; i < reader.regionCount(); i++) {
                region(reader, i, transcript);
            }
        } catch (FaroException e) {
            transcript.line("open", FilesInput.judged(e));
        }
    }

    private static void region(Reader reader, int number, Transcript transcript) throws IOException {
        try {
            Broken.unless(reader.region(number).sequence() == number, "the region has the requested number");
            transcript.line("region", number, "ok");
        } catch (FaroException e) {
            transcript.line("region", number, FilesInput.judged(e));
        }
    }
}
