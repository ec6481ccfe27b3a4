package dev.faro.fuzz;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The commands {@code verdicts CORPUS} and {@code transcript TARGET FILE} (VERDICTS.md). */
public final class Main {
    private Main() {}

    /** Prints the results of the targets. */
    public static void main(String[] arguments) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.US_ASCII);
        try (Folder folder = new Folder()) {
            if (arguments.length == 2 && arguments[0].equals("verdicts")) {
                for (String target : Targets.names()) {
                    for (byte[] input : inputs(Path.of(arguments[1]), target)) {
                        String name = Sums.of(input);
                        out.println(target + " " + name + " " + verdict(target, name, input, folder));
                    }
                }
            } else if (arguments.length == 3 && arguments[0].equals("transcript")) {
                out.print(Targets.run(arguments[1], Files.readAllBytes(Path.of(arguments[2])), folder));
            } else {
                System.err.println("verdicts CORPUS | transcript TARGET FILE");
                System.exit(2);
            }
        }
    }

    /** The inputs in the pack of a target (fuzz/README.md); none if there is no pack. */
    private static List<byte[]> inputs(Path corpus, String target) throws IOException {
        Path path = corpus.resolve(target + ".inputs");
        List<byte[]> inputs = new ArrayList<>();
        if (Files.isRegularFile(path)) {
            ByteBuffer pack = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
            while (pack.hasRemaining()) {
                byte[] input = new byte[pack.getInt()];
                pack.get(input);
                inputs.add(input);
            }
        }
        return inputs;
    }

    private static String verdict(String target, String name, byte[] input, Folder folder) throws IOException {
        try {
            return Targets.run(target, input, folder).verdict();
        } catch (RuntimeException | Error e) {
            System.err.println(target + " " + name + ": " + e);
            return "broken -";
        }
    }
}
