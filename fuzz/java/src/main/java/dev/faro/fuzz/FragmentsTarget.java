package dev.faro.fuzz;

import dev.faro.Limits;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.util.Arrays;

/** {@code fragments}: reads a stream of fragments, at once and in small pieces. */
final class FragmentsTarget implements Target {
    private static final int FEW = 7;

    @Override
    public void run(byte[] input, Folder folder, Transcript transcript) {
        byte flags = input.length > 0 ? input[0] : 0;
        byte[] stream = Arrays.copyOfRange(input, Math.min(1, input.length), input.length);
        if (FilesInput.isSealed(flags)) {
            Seal.sealStream(stream);
        }
        Limits limits = FilesInput.limits(flags);
        FragmentStream whole = FragmentStream.of(new ByteArrayInputStream(stream), stream.length, limits);
        FragmentStream slow = FragmentStream.of(slow(stream), stream.length, limits);
        whole.print(transcript);
        Transcript again = new Transcript();
        slow.print(again);
        Broken.unless(transcript.toString().equals(again.toString()), "at once and in small pieces, the same");
        Broken.unless(Content.isSame(whole.error(), slow.error()), "at once and in small pieces, the same error");
    }

    private static InputStream slow(byte[] stream) {
        return new ByteArrayInputStream(stream) {
            @Override
            public synchronized int read(byte[] into, int at, int length) {
                return super.read(into, at, Math.min(length, FEW));
            }
        };
    }
}
