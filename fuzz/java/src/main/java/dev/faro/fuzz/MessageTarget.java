package dev.faro.fuzz;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.internal.message.MessageKind;
import dev.faro.internal.message.Verifier;
import dev.faro.internal.storage.InputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** {@code message}: one message is verified, read, and built again. */
final class MessageTarget implements Target {
    private static final long OFFSET = 4711;

    @Override
    public void run(byte[] input, Folder folder, Transcript transcript) throws IOException {
        int head = input.length > 0 ? input[0] & 0xFF : 0;
        byte[] bytes = input.length > 1 ? Arrays.copyOfRange(input, 1, input.length) : new byte[0];
        MessageKind kind = MessageKind.values()[(head & 0x7F) % 3];
        boolean newer = (head & 0x80) != 0;
        ByteBuffer message = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        try (InputFile file = InputFile.open(FileRole.INDEX, folder.write(FilesInput.INDEX, new byte[0]))) {
            boolean accepted = isAccepted(message, kind, newer, file);
            Broken.unless(!isAccepted(message, kind, false, file) || isAccepted(message, kind, true, file),
                    "with a newer minor version no more messages are refused");
            if (!accepted) {
                transcript.line("refused");
                transcript.note("malformed-message@-:-");
                return;
            }
            MessageFields fields = new MessageFields(message, kind);
            fields.print(transcript);
            ByteBuffer built = fields.build();
            if (built != null) {
                Broken.unless(isAccepted(built, kind, false, file), "the built message is valid");
                Broken.unless(new MessageFields(built, kind).normal().equals(fields.normal()),
                        "the built message has the same values");
            }
        }
    }

    private static boolean isAccepted(ByteBuffer message, MessageKind kind, boolean newer, InputFile file) {
        try {
            Verifier.check(message, kind, newer, file, OFFSET);
            return true;
        } catch (FaroException e) {
            Broken.unless(e.code() == ErrorCode.MALFORMED_MESSAGE && e.offset() == OFFSET, "MSG-13: " + e);
            return false;
        }
    }
}
